package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.oci.OciRuntime;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NativeProviderTest extends OciContract {
    private static final String LAUNCHER = "launcher";

    @Override
    OciRuntime runtime() {
        return OciRuntime.NATIVE;
    }

    @ParameterizedTest
    @ValueSource(strings = {LAUNCHER, "orphan-watcher"})
    void aResidentProcessThatDiedIsReplaced(String mode) throws IOException {
        var program = Files.copy(guestBinary, home.resolve("a-guest-of-its-own"));
        try (var other = open(home.resolve("other"), program)) {
            for (int round = 0; round < 3; round++) {
                var machine = other.start(spec(newId()));
                assertThat(machine.isAlive()).isTrue();
                other.remove(machine.id(), Disk.ERASE);
                var residents = residents(program, mode);
                assertThat(residents).hasSize(1);
                residents.forEach(ProcessHandle::destroyForcibly);
                residents.forEach(resident -> resident.onExit().join());
            }
        }
        assertThat(residents(program, mode)).isEmpty();
        assertThat(HostTraces.of(home.resolve("other"))).isEmpty();
    }

    /// A disk that somebody still has open makes the launch wait, so that there is something to kill.
    @Test
    void aLaunchThatIsKilledIsAFailureAndLeavesNothing() throws Exception {
        var program = Files.copy(guestBinary, home.resolve("a-guest-of-its-own"));
        var id = newId();
        var second = home.resolve("second");
        try (var other = open(second, program)) {
            other.start(spec(id));
            other.remove(id, Disk.KEEP);
            try (var user = FileChannel.open(second.resolve("disks").resolve(id + ".ext4"))) {
                var start = CompletableFuture.supplyAsync(() -> other.start(spec(id)));
                var launcher = residents(program, LAUNCHER).getFirst();
                await().until(() -> launcher.children().findAny().isPresent());
                launcher.children().forEach(ProcessHandle::destroyForcibly);
                assertThatThrownBy(start::join).hasMessageContaining("killed");
                assertThat(user.isOpen()).isTrue();
            }
            other.remove(id, Disk.ERASE);
            assertThat(HostTraces.of(id, second)).isEmpty();
        }
    }

    @Test
    void aMachineThatIsPausedAtOnceCanBeRemoved() {
        for (int round = 0; round < 20; round++) {
            var machine = provider().start(spec(newId()));
            machine.pause();
            provider().remove(machine.id(), Disk.ERASE);
        }
    }

    private static List<ProcessHandle> residents(Path program, String mode) {
        return ProcessHandle.current()
                .children()
                .filter(child -> child.info()
                        .command()
                        .filter(program.toString()::equals)
                        .isPresent())
                .filter(child ->
                        List.of(child.info().arguments().orElse(new String[0])).contains(mode))
                .toList();
    }
}
