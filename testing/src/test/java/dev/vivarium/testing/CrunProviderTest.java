package dev.vivarium.testing;

import dev.vivarium.core.provider.oci.OciRuntime;

class CrunProviderTest extends OciRuntimeContract {
    @Override
    OciRuntime runtime() {
        return OciRuntime.CRUN;
    }
}
