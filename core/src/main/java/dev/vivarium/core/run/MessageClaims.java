package dev.vivarium.core.run;

import dev.vivarium.model.SandboxId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Claims of readers on waiting messages. A message goes to the first kind of reader that claims it. Thread-safe.
final class MessageClaims {
    private record Key(SandboxId sandbox, String message) {}

    private enum Claim {
        /// By readers that acknowledge messages. A reader that reconnects gets the message again.
        OFFERED,
        /// By one reader that does not acknowledge messages.
        TAKEN
    }

    private final Map<Key, Claim> claims = new ConcurrentHashMap<>();

    /// Reports whether a reader without acknowledgement may have the message.
    boolean take(SandboxId sandbox, String message) {
        return claims.putIfAbsent(new Key(sandbox, message), Claim.TAKEN) == null;
    }

    /// Reports whether readers with acknowledgement may have the message.
    boolean offer(SandboxId sandbox, String message) {
        return claims.putIfAbsent(new Key(sandbox, message), Claim.OFFERED) != Claim.TAKEN;
    }

    /// Ends the claim on a message that was delivered or put back.
    void forget(SandboxId sandbox, String message) {
        claims.remove(new Key(sandbox, message));
    }

    /// Ends all offers to readers in a sandbox.
    void release(SandboxId sandbox) {
        claims.entrySet()
                .removeIf(entry -> entry.getKey().sandbox().equals(sandbox) && entry.getValue() == Claim.OFFERED);
    }
}
