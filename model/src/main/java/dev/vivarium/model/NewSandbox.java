package dev.vivarium.model;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// A request for a thread's sandbox. `idleTimeout`, `limits` and `egress` fall back to the server's own when
/// absent; `env` is what every command in it gets. Immutable.
public record NewSandbox(
        UserId user,
        ThreadId thread,
        Optional<Duration> idleTimeout,
        Optional<Limits> limits,
        Map<String, String> env,
        Optional<Egress> egress) {
    public NewSandbox {
        env = Map.copyOf(env);
    }

    public static NewSandbox of(UserId user, ThreadId thread) {
        return new NewSandbox(user, thread, Optional.empty(), Optional.empty(), Map.of(), Optional.empty());
    }

    public NewSandbox withIdleTimeout(Duration timeout) {
        return new NewSandbox(user, thread, Optional.of(timeout), limits, env, egress);
    }

    public NewSandbox withLimits(Limits wanted) {
        return new NewSandbox(user, thread, idleTimeout, Optional.of(wanted), env, egress);
    }

    public NewSandbox withEnv(Map<String, String> wanted) {
        return new NewSandbox(user, thread, idleTimeout, limits, wanted, egress);
    }

    public NewSandbox withEgress(Egress wanted) {
        return new NewSandbox(user, thread, idleTimeout, limits, env, Optional.of(wanted));
    }
}
