package dev.vivarium.server.http;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.RightsChanges.Change;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Access right of one caller for an open request or connection. Thread-safe.
///
/// The registry rechecks the right when it may be lost. A loss calls the holder once, and [#check] throws from then on.
/// Close the access together with the request.
public final class Access implements AutoCloseable {
    /// Interval at which an idle stream calls [#check].
    public static final Duration CHECK_EVERY = Duration.ofMillis(400);

    /// Step of a long poll. Each step may need a query, and a loss must end the poll within a second.
    private static final Duration STEP = Duration.ofMillis(700);

    private static final Set<Integer> REFUSALS = Set.of(401, 403, 404);

    private final AccessRegistry all;
    private final Caller caller;
    private final Check check;
    private final Consumer<Failure> onLoss;
    private final AtomicReference<@Nullable Failure> loss = new AtomicReference<>();
    private volatile Standing standing;
    private volatile long checkedAt = System.nanoTime();
    private volatile boolean polled;

    /// Check of an access right.
    @FunctionalInterface
    public interface Check {
        /// Returns the caller's current rights. Throws the failure for the caller if the right is lost.
        Standing run();
    }

    /// Scopes of a caller for the sandbox, and the latest end of the right. Immutable.
    record Standing(Scopes scopes, Instant end) {}

    Access(AccessRegistry all, Caller caller, Instant end, Check check, Consumer<Failure> onLoss) {
        this.all = all;
        this.caller = caller;
        this.standing = new Standing(caller.scopes(), end);
        this.check = check;
        this.onLoss = onLoss;
    }

    /// Makes the holder responsible for [#check]. The holder then ends the response itself, with the reason.
    Access polled() {
        polled = true;
        return this;
    }

    /// Rechecks the right if it may be lost since [AccessRegistry#changes] was `seen`.
    Access since(long seen) {
        if (all.changes() != seen) {
            AccessRegistry.recheck(this);
        }
        return this;
    }

    /// Makes every later [#check] throw `failure`, because the client disconnected.
    void end(Failure failure) {
        loss.compareAndSet(null, failure);
    }

    /// Returns the caller's current scopes for the sandbox, for responses that filter by scope.
    public Scopes scopes() {
        return standing.scopes();
    }

    /// Returns the reason of the loss, if the right is lost.
    public Optional<Failure> loss() {
        return Optional.ofNullable(loss.get());
    }

    /// Throws the failure for the caller if the right is lost or the server shuts down. Cheap.
    public void check() {
        loss().ifPresent(failure -> {
            throw new SandboxException(failure);
        });
        if (all.isShuttingDown()) {
            throw new SandboxException(new Failure.ShuttingDown());
        }
    }

    /// Rechecks the right in this thread and then calls [#check]. Use it before an irreversible send.
    public void checkNow() {
        recheck();
        check();
    }

    /// Condition of a long poll.
    @FunctionalInterface
    public interface Awaited<T> {
        /// Waits at most `timeout` and returns the current value.
        T next(Duration timeout) throws InterruptedException;
    }

    /// Waits until `isEnough` accepts the value, at most `timeout`. The wait also ends with the sandbox or the
    /// server. Throws the failure for the caller if the right is lost.
    public <T> T await(Duration timeout, Awaited<T> awaited, Predicate<T> isEnough) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            boolean isLast = left.compareTo(STEP) <= 0;
            T found = awaited.next(isLast ? left : STEP);
            if (isLast || isEnough.test(found) || hasEnded() || all.isShuttingDown()) {
                return found;
            }
            check();
        }
    }

    /// Reports whether the change can end this caller's right.
    boolean isConcernedBy(Change change) {
        return switch (change) {
            case Change.OfUser(var user) ->
                caller.principal().filter(who -> who.name().equals(user)).isPresent();
            case Change.OfSandbox(var sandbox) ->
                caller.principal()
                        .flatMap(Access::sandboxOfToken)
                        .filter(sandbox::equals)
                        .isPresent();
        };
    }

    private static Optional<SandboxId> sandboxOfToken(Principal who) {
        return switch (who) {
            case Principal.Holder(var grant) -> Optional.of(grant.sandbox());
            case Principal.Worker(var grant) -> Optional.of(grant.sandbox());
            case Principal.Admin _, Principal.User _ -> Optional.empty();
        };
    }

    boolean isDue(Instant now, long nanos, Duration period) {
        return !now.isBefore(standing.end()) || nanos - checkedAt >= period.toNanos();
    }

    /// Rechecks the right and reports its loss. A failure of the check itself is not a loss.
    void recheck() {
        checkedAt = System.nanoTime();
        // Tokens end with their sandbox. The stream itself reports that end to its reader.
        if (loss.get() != null || hasEnded() && all.now().isBefore(standing.end())) {
            return;
        }
        try {
            standing = check.run();
        } catch (SandboxException e) {
            boolean isLoss = REFUSALS.contains(ProblemJson.status(e.failure())) && all.contains(this);
            if (isLoss && loss.compareAndSet(null, e.failure()) && !polled) {
                onLoss.accept(e.failure());
            }
        }
    }

    private boolean hasEnded() {
        return caller.sandbox()
                .filter(sandbox -> sandbox.info().end().isPresent())
                .isPresent();
    }

    /// Idempotent.
    @Override
    public void close() {
        all.remove(this);
    }
}
