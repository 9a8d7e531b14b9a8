package dev.vivarium.testing;

import dev.vivarium.core.provider.oci.OciRuntime;

class CrunProviderTest extends OciContract {
    @Override
    OciRuntime runtime() {
        return OciRuntime.CRUN;
    }
}
