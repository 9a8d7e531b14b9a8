package dev.vivarium.testing;

import dev.vivarium.core.provider.oci.OciRuntime;

class RuncProviderTest extends OciRuntimeContract {
    @Override
    OciRuntime runtime() {
        return OciRuntime.RUNC;
    }
}
