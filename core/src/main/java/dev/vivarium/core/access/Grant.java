package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/// What a capability token says: who may do what to which sandbox until when. Never the token itself. Immutable.
///
/// `ancestors` are the `jti`s of the tokens that this one was narrowed from: it dies with any of them. `epoch` says
/// which of the sandbox's keys it was given under.
public record Grant(
        UserId subject,
        SandboxId sandbox,
        ThreadId thread,
        Scopes scopes,
        String jti,
        Instant expires,
        Standing standing,
        List<String> ancestors,
        int epoch) {
    public Grant {
        ancestors = List.copyOf(ancestors);
    }

    /// By what right the subject was given it.
    public enum Standing {
        OWNER,
        /// Invited to the thread; the token is worth no more than the invitation still is.
        MEMBER,
        ADMIN;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Standing of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }
}
