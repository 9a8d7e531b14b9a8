package dev.vivarium.sdk.local;

import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.LocalMode;

/// What `SandboxClient.local` finds when this module is on the class path. Stateless.
public final class InProcess implements LocalMode {
    @Override
    public Engine open(LocalConfig config) {
        return LocalEngine.open(config);
    }
}
