package dev.vivarium.testing;

import dev.vivarium.core.provider.oci.OciRuntime;

class NativeProviderTest extends OciContract {
    @Override
    OciRuntime runtime() {
        return OciRuntime.NATIVE;
    }
}
