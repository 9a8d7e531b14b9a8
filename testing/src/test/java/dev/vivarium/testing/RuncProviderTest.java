package dev.vivarium.testing;

import dev.vivarium.core.provider.oci.OciRuntime;

class RuncProviderTest extends OciContract {
    @Override
    OciRuntime runtime() {
        return OciRuntime.RUNC;
    }
}
