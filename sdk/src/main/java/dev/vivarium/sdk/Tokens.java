package dev.vivarium.sdk;

import dev.vivarium.model.OnIdle;
import dev.vivarium.sdk.http.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Capability tokens for sandboxes. Thread-safe.
public final class Tokens {
    /// All scopes. The server grants those that the caller may have.
    private static final List<String> ALL_SCOPES = List.of("fs:rw", "shell", "process", "snapshot");

    private final Transport transport;

    Tokens(Transport transport) {
        this.transport = transport;
    }

    /// A token for the thread's sandbox, and whether the call created the sandbox. Immutable.
    public record NewToken(SandboxToken token, boolean isNewSandbox) {}

    /// A token for the thread's sandbox; creates the sandbox if the thread has none.
    ///
    /// @param previous the sandbox that the caller used last
    /// @param user     the owner of a new thread; by default the user of the key
    /// @param onIdle   for a new sandbox; by default the setting of the server
    public NewToken issue(String thread, Optional<String> previous, Optional<String> user, Optional<OnIdle> onIdle) {
        return transport.post(
                path(thread),
                out -> {
                    previous.ifPresent(sandbox -> out.writeStringProperty("sandbox_id", sandbox));
                    user.ifPresent(owner -> out.writeStringProperty("user_id", owner));
                    onIdle.ifPresent(wanted -> out.writeStringProperty("on_idle", wanted.text()));
                    scopes(out, ALL_SCOPES);
                },
                fields -> new NewToken(
                        SandboxToken.read(fields),
                        fields.optionalFlag("created").orElse(false)));
    }

    /// The successor of a token for the same sandbox.
    public SandboxToken refresh(String thread, SandboxToken token) {
        return transport.post(
                path(thread) + "/refresh",
                out -> {
                    out.writeStringProperty("sandbox_id", token.sandbox());
                    out.writeStringProperty("current_token", token.token());
                },
                token::refreshed);
    }

    /// A token with fewer scopes, for another program. It expires no later than `token`.
    public SandboxToken narrow(String thread, SandboxToken token, List<String> scopes, Optional<Duration> lifetime) {
        return transport.post(
                path(thread) + "/token",
                out -> {
                    out.writeStringProperty("current_token", token.token());
                    scopes(out, scopes);
                    lifetime.ifPresent(time -> out.writeNumberProperty("ttl", time.toSeconds()));
                },
                SandboxToken::read);
    }

    private static void scopes(JsonGenerator out, List<String> scopes) {
        out.writeArrayPropertyStart("scopes");
        scopes.forEach(out::writeString);
        out.writeEndArray();
    }

    private static String path(String thread) {
        return "/threads/" + Transport.segment(thread) + "/sandbox";
    }
}
