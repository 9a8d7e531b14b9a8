package dev.vivarium.testing;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.process.ProcessProvider;
import java.nio.file.Path;

class ProcessProviderTest extends SnapshotContract implements HostTracesContract {
    @Override
    protected Provider open(Path home, GuestPrograms programs) {
        return ProcessProvider.open(home, programs);
    }
}
