package dev.vivarium.server.http;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/// Looks now and then whether whoever is sent a long answer may still have it: a key is revoked, a token expires, an
/// invitation is taken back, or the server stops. Confined to the worker that sends the answer.
public final class Vigil {
    /// How soon a right that ends is noticed by whoever waits no longer than this.
    public static final Duration EVERY = Duration.ofMillis(400);

    /// So long is waited for something before the next look: who waits is many, and asks for little.
    private static final Duration STEP = Duration.ofSeconds(1);

    private static final Set<Integer> REFUSALS = Set.of(401, 403, 404);

    private final Runnable question;
    private final Optional<Sandbox> sandbox;
    private long looked = System.nanoTime();

    /// @param question asks anew whether the caller may; throws if not
    Vigil(Runnable question, Optional<Sandbox> sandbox) {
        this.question = question;
        this.sandbox = sandbox;
    }

    /// What a caller waits for.
    @FunctionalInterface
    public interface Awaited<T> {
        /// Waits at most so long; returns what there is then.
        T next(Duration patience) throws InterruptedException;
    }

    /// Waits until what there is satisfies the caller, for as long as its sandbox is there and the server goes on.
    /// Throws as [#look] does when the caller may not have it any more.
    public <T> T await(Duration patience, Awaited<T> awaited, Predicate<T> isEnough) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            boolean isLast = left.compareTo(STEP) <= 0;
            T found = awaited.next(isLast ? left : STEP);
            if (isLast || isEnough.test(found) || hasEnded() || isStopping()) {
                return found;
            }
        }
    }

    /// Looks, and reports whether the server stops.
    private boolean isStopping() {
        try {
            lookNow();
            return false;
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.ShuttingDown) {
                return true;
            }
            throw e;
        }
    }

    /// Throws what the caller is to be told, once it may not have this any more. Costs nothing most of the time.
    public void look() {
        long now = System.nanoTime();
        if (now - looked >= EVERY.toNanos()) {
            lookNow();
        }
    }

    /// The same before something that must not go to whoever has just lost the right to it.
    public void lookNow() {
        looked = System.nanoTime();
        try {
            question.run();
        } catch (SandboxException e) {
            if (isTheEnd(e.failure())) {
                throw e;
            }
        }
    }

    /// An answer without an end must not use up the grace of a server that stops: whoever reads it comes back.
    private boolean isTheEnd(Failure failure) {
        return failure instanceof Failure.ShuttingDown || REFUSALS.contains(ProblemJson.status(failure)) && !hasEnded();
    }

    /// Tokens end with their sandbox. That it ended is told by its log, to whoever could read it until then.
    private boolean hasEnded() {
        return sandbox.filter(known -> known.info().end().isPresent()).isPresent();
    }
}
