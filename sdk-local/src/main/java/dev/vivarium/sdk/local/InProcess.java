package dev.vivarium.sdk.local;

import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.LocalMode;

/// Provider of local mode, which `SandboxClient.local` loads. Stateless.
public final class InProcess implements LocalMode {
    @Override
    public Engine open(LocalConfig config) {
        return LocalEngine.open(config);
    }
}
