package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.provider.Capabilities;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.GuestStream;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/// Provider contract over a provider whose guests have byte streams instead of sockets, and which keeps no snapshots.
class StreamProviderTest extends ProviderContract {
    @Override
    protected Provider open(Path home, GuestPrograms programs) {
        return new StreamProvider(ProcessProvider.open(home, programs));
    }

    @Test
    void largeOutputArrivesComplete() {
        try (var box = start()) {
            assertThat(box.output("head -c 500000 /dev/zero | tr '\\0' x")).isEqualTo("x".repeat(500_000));
        }
    }

    @Test
    void providerWithoutSnapshotsRejectsThem() {
        var snapshot = SnapshotId.random(new SecureRandom());
        assertUnsupported(() -> provider().snapshot(newId(), snapshot));
        assertUnsupported(() -> provider().restore(newId(), snapshot));
        assertThat(provider().snapshots()).isEmpty();
    }

    private static void assertUnsupported(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isInstanceOf(Failure.Unsupported.class));
    }

    private record StreamProvider(Provider processes) implements Provider {
        @Override
        public String name() {
            return "stream";
        }

        @Override
        public Capabilities capabilities() {
            var all = processes.capabilities();
            return new Capabilities(
                    all.isolation(), all.diskLimit(), "none", all.cgroups(), "none", false, true, false);
        }

        @Override
        public void requireImage(String name) {
            processes.requireImage(name);
        }

        @Override
        public Machine start(MachineSpec spec) {
            return new StreamMachine(processes.start(spec));
        }

        @Override
        public Optional<Machine> adopt(SandboxId id, Duration timeout) {
            return processes.adopt(id, timeout).map(StreamMachine::new);
        }

        @Override
        public Set<SandboxId> survivors() {
            return processes.survivors();
        }

        @Override
        public void remove(SandboxId id, Disk disk) {
            processes.remove(id, disk);
        }

        @Override
        public Inventory inventory() {
            return processes.inventory();
        }

        @Override
        public void close() {
            processes.close();
        }
    }

    private record StreamMachine(Machine machine) implements Machine {
        @Override
        public SandboxId id() {
            return machine.id();
        }

        @Override
        public GuestStream connect(Duration timeout) {
            var socket = machine.connect(timeout).channel();
            return new GuestStream.Bytes(Channels.newInputStream(socket), Channels.newOutputStream(socket));
        }

        @Override
        public void pause() {
            machine.pause();
        }

        @Override
        public void resume() {
            machine.resume();
        }

        @Override
        public void limit(Limits limits) {
            machine.limit(limits);
        }

        @Override
        public void orphanGrace(Duration grace) {
            machine.orphanGrace(grace);
        }

        @Override
        public Usage usage() {
            return machine.usage();
        }

        @Override
        public long storageBytes() {
            return machine.storageBytes();
        }

        @Override
        public boolean isAlive() {
            return machine.isAlive();
        }

        @Override
        public String workspace() {
            return machine.workspace();
        }
    }
}
