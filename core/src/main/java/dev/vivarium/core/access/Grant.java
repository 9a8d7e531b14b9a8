package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.List;

/// Content of a capability token: subject, sandbox, scopes and expiry. Never the token itself. Immutable.
///
/// `ancestors` are the `jti`s of the tokens that this token was narrowed from. Revoking one of them revokes this token.
/// `epoch` is the number of the signing key of the sandbox.
public record Grant(
        UserId subject,
        SandboxId sandbox,
        ThreadKey key,
        Scopes scopes,
        String jti,
        Instant expires,
        Standing standing,
        List<String> ancestors,
        int epoch) {
    public Grant {
        ancestors = List.copyOf(ancestors);
    }

    public ThreadId thread() {
        return key.thread();
    }

    /// Role of the subject when the server issued the token.
    public enum Standing implements TextEnum {
        OWNER,
        /// Invited to the thread. The token never exceeds the current invitation.
        MEMBER,
        ADMIN
    }
}
