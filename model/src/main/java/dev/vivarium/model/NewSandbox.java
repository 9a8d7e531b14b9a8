package dev.vivarium.model;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// Request for the sandbox of a thread. Immutable.
///
/// If `idleTimeout`, `onIdle`, `limits`, `egress` or `image` is absent, the default of the server applies. Every
/// command in the sandbox gets `env`.
public record NewSandbox(
        UserId user,
        ThreadId thread,
        Optional<Duration> idleTimeout,
        Optional<Limits> limits,
        Map<String, String> env,
        Optional<Egress> egress,
        Optional<String> image,
        Optional<OnIdle> onIdle) {
    public NewSandbox {
        env = Map.copyOf(env);
    }

    public static NewSandbox of(UserId user, ThreadId thread) {
        return new NewSandbox(
                user,
                thread,
                Optional.empty(),
                Optional.empty(),
                Map.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    public ThreadKey key() {
        return new ThreadKey(user, thread);
    }

    public NewSandbox withIdleTimeout(Duration timeout) {
        return new NewSandbox(user, thread, Optional.of(timeout), limits, env, egress, image, onIdle);
    }

    public NewSandbox withLimits(Limits wanted) {
        return new NewSandbox(user, thread, idleTimeout, Optional.of(wanted), env, egress, image, onIdle);
    }

    public NewSandbox withEnv(Map<String, String> wanted) {
        return new NewSandbox(user, thread, idleTimeout, limits, wanted, egress, image, onIdle);
    }

    public NewSandbox withEgress(Egress wanted) {
        return new NewSandbox(user, thread, idleTimeout, limits, env, Optional.of(wanted), image, onIdle);
    }

    /// Sets the image. The warm pool holds only the server's default image.
    public NewSandbox withImage(String wanted) {
        return new NewSandbox(user, thread, idleTimeout, limits, env, egress, Optional.of(wanted), onIdle);
    }

    public NewSandbox withOnIdle(OnIdle wanted) {
        return new NewSandbox(user, thread, idleTimeout, limits, env, egress, image, Optional.of(wanted));
    }
}
