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

/// The right by which one caller keeps a request or a connection open. It is checked again whenever it may have been
/// lost. A loss calls the holder once, and [#check] throws from then on. Close it with the request. Thread-safe.
public final class Access implements AutoCloseable {
    /// How often a stream that waits for something to send calls [#check].
    public static final Duration CHECK_EVERY = Duration.ofMillis(400);

    /// A step of a long poll. Each may need a query, and a loss must end the poll within a second.
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

    /// Checks a right.
    @FunctionalInterface
    public interface Check {
        /// Returns what the caller may do now. Throws the failure for the caller if the right is lost.
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

    /// From now on the holder calls [#check] and ends the answer itself, with the reason.
    Access polled() {
        polled = true;
        return this;
    }

    /// Checks the right again if it may have been lost since [AccessRegistry#changes] was `seen`.
    Access since(long seen) {
        if (all.changes() != seen) {
            AccessRegistry.recheck(this);
        }
        return this;
    }

    /// Lets every later [#check] throw `failure`, for a client that has hung up.
    void end(Failure failure) {
        loss.compareAndSet(null, failure);
    }

    /// Current scopes of the caller for the sandbox, for answers that filter by scope.
    public Scopes scopes() {
        return standing.scopes();
    }

    /// Why the right was lost, if it was.
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

    /// The same after a check in this thread, before something is sent that cannot be taken back.
    public void checkNow() {
        recheck();
        check();
    }

    /// The condition of a long poll.
    @FunctionalInterface
    public interface Awaited<T> {
        /// Waits at most `timeout` and returns what there is then.
        T next(Duration timeout) throws InterruptedException;
    }

    /// Waits until what there is satisfies the caller, at most `timeout`, and no longer than the sandbox and the
    /// server run. Throws the failure for the caller if the right is lost.
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

    /// Reports whether the change may be a loss for this caller.
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

    /// Checks the right and reports its loss. A failure of the check itself is not a loss.
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
