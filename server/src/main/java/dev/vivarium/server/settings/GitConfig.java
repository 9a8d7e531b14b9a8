package dev.vivarium.server.settings;

import dev.vivarium.core.egress.AddressBlock;
import java.time.Duration;
import java.util.List;

/// Settings of git repositories. Immutable.
///
/// @param privateAddresses non-public addresses that remotes may have
/// @param timeout          longest time without data from a remote
/// @param cacheBytes       size of all mirrors; zero for no mirrors
public record GitConfig(List<AddressBlock> privateAddresses, Duration timeout, long cacheBytes) {
    public GitConfig {
        privateAddresses = List.copyOf(privateAddresses);
    }

    static GitConfig of(Settings settings) {
        return new GitConfig(
                EgressSettings.blocks(settings, Catalogue.GIT_PRIVATE),
                settings.get(Catalogue.GIT_TIMEOUT),
                settings.get(Catalogue.GIT_CACHE));
    }
}
