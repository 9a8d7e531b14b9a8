package dev.vivarium.server.settings;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.policy.CommandPolicy;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;

/// Settings for sharing sandboxes: public URL, token mode, maximum scopes, leases and audit size. Immutable.
public record AccessConfig(
        Optional<URI> publicUrl, Tokens.Mode tokenMode, Scopes scopes, Duration lease, long auditEntries) {
    static AccessConfig of(Settings settings) {
        return new AccessConfig(
                settings.get(Catalogue.PUBLIC_URL),
                settings.get(Catalogue.TOKEN_MODE),
                scopes(settings),
                settings.get(Catalogue.THREAD_LEASE),
                settings.get(Catalogue.AUDIT_ENTRIES));
    }

    /// Removes the shell scope if a command policy applies. With a shell, a list of allowed commands would have no
    /// effect.
    private static Scopes scopes(Settings settings) {
        var chosen = settings.get(Catalogue.TOKEN_SCOPES);
        if (settings.get(Catalogue.COMMAND_POLICY) == CommandPolicy.Mode.OPEN) {
            return chosen;
        }
        var withoutTyping = EnumSet.allOf(Scope.class);
        withoutTyping.remove(Scope.SHELL);
        return chosen.narrow(new Scopes(withoutTyping));
    }
}
