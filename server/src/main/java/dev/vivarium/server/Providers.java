package dev.vivarium.server;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.server.settings.Config;
import java.util.Locale;

/// Factory of the configured isolation provider. Stateless.
public final class Providers {
    private Providers() {}

    public static Provider open(Config config) {
        var programs = GuestPrograms.extractTo(config.home().resolve("bin"));
        return switch (config.engine().provider()) {
            case PROCESS -> ProcessProvider.open(config.home(), programs);
            case OCI ->
                OciProvider.open(OciConfig.of(
                        config.home(),
                        programs,
                        OciRuntime.valueOf(config.engine().runtime().toUpperCase(Locale.ROOT))));
        };
    }
}
