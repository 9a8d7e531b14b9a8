package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.Capabilities;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.Vivarium;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerCloseTest {
    @Test
    void aPartThatFailsToCloseDoesNotKeepTheStoreOpen(@TempDir Path home) {
        var arguments = List.of("--home", home.toString(), "--port", "0", "--pool-size", "0");
        var config = Config.of(Settings.read(arguments, Map.of(), home));
        var provider = ProcessProvider.open(home, GuestPrograms.extractTo(home.resolve("bin")));
        var server = Vivarium.start(config, new UnclosableProvider(provider));
        assertThat(home.resolve("vivarium.db-wal")).exists();

        server.close();

        assertThat(home.resolve("vivarium.db-wal")).doesNotExist();
    }

    private record UnclosableProvider(Provider provider) implements Provider {
        @Override
        public String name() {
            return provider.name();
        }

        @Override
        public Capabilities capabilities() {
            return provider.capabilities();
        }

        @Override
        public void requireImage(String name) {
            provider.requireImage(name);
        }

        @Override
        public Machine start(MachineSpec spec) {
            return provider.start(spec);
        }

        @Override
        public Optional<Machine> adopt(SandboxId id, Duration timeout) {
            return provider.adopt(id, timeout);
        }

        @Override
        public Set<SandboxId> survivors() {
            return provider.survivors();
        }

        @Override
        public void remove(SandboxId id, Disk disk) {
            provider.remove(id, disk);
        }

        @Override
        public Inventory inventory() {
            return provider.inventory();
        }

        @Override
        public void close() {
            provider.close();
            throw new IllegalStateException("cannot close");
        }
    }
}
