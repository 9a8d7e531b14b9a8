package dev.vivarium.server.http;

import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/// Looks now and then whether whoever is sent a long answer may still have it: a key is revoked, a token expires, an
/// invitation is taken back, or the server stops. Confined to the worker that sends the answer.
public final class Vigil {
    /// How soon a right that ends is noticed by whoever waits no longer than this.
    public static final Duration EVERY = Duration.ofMillis(400);

    private static final Set<Integer> REFUSALS = Set.of(401, 403, 404);

    private final Runnable question;
    private final Optional<Sandbox> sandbox;
    private long looked = System.nanoTime();

    /// @param question asks anew whether the caller may; throws if not
    Vigil(Runnable question, Optional<Sandbox> sandbox) {
        this.question = question;
        this.sandbox = sandbox;
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
