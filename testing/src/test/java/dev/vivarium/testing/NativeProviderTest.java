package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.model.SandboxException;
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
    private static final String LAUNCHER = "serve";

    @Override
    OciRuntime runtime() {
        return OciRuntime.NATIVE;
    }

    @Test
    void guestHasPriorityOverCommands() {
        try (var box = start()) {
            assertThat(box.output("cut -d ' ' -f 19 /proc/1/stat")).isEqualTo("-10");
            assertThat(box.output("nice")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {LAUNCHER, "orphan-watcher"})
    void killedResidentProcessIsReplaced(String mode) throws IOException {
        var copy =
                new GuestPrograms(programs.guest(), Files.copy(programs.launcher(), home.resolve("copied-launcher")));
        try (var other = open(home.resolve("other"), copy)) {
            for (int round = 0; round < 3; round++) {
                var machine = other.start(spec(newId()));
                assertThat(machine.isAlive()).isTrue();
                other.remove(machine.id(), Disk.ERASE);
                var residents = residents(copy.launcher(), mode);
                assertThat(residents).hasSize(1);
                residents.forEach(ProcessHandle::destroyForcibly);
                residents.forEach(resident -> resident.onExit().join());
            }
        }
        assertThat(residents(copy.launcher(), mode)).isEmpty();
        assertThat(HostTraces.of(home.resolve("other"))).isEmpty();
    }

    @Test
    void stalledLauncherFailsStartsInTimeAndIsReplaced() throws Exception {
        var copy =
                new GuestPrograms(programs.guest(), Files.copy(programs.launcher(), home.resolve("copied-launcher")));
        try (var other = open(home.resolve("other"), copy)) {
            var first = other.start(spec(newId()));
            var launcher = residents(copy.launcher(), LAUNCHER).getFirst();
            new ProcessBuilder("kill", "-STOP", Long.toString(launcher.pid()))
                    .start()
                    .waitFor();
            var ids = List.of(newId(), newId());
            var starts = ids.stream()
                    .map(id -> CompletableFuture.supplyAsync(() -> other.start(spec(id)), Thread::startVirtualThread))
                    .toList();
            for (var start : starts) {
                assertThatThrownBy(start::join)
                        .hasRootCauseInstanceOf(SandboxException.class)
                        .hasMessageContaining("did not start within 20 s");
            }
            for (var id : ids) {
                assertThat(HostTraces.of(id, home.resolve("other"))).isEmpty();
            }
            var next = other.start(spec(newId()));
            assertThat(next.isAlive()).isTrue();
            other.remove(next.id(), Disk.ERASE);
            other.remove(first.id(), Disk.ERASE);
        }
    }

    /// An open disk file makes the launch wait, so that the test can kill it.
    @Test
    void killedLaunchFailsAndLeavesNothing() throws Exception {
        var copy =
                new GuestPrograms(programs.guest(), Files.copy(programs.launcher(), home.resolve("copied-launcher")));
        var id = newId();
        var second = home.resolve("second");
        try (var other = open(second, copy)) {
            other.start(spec(id));
            other.remove(id, Disk.KEEP);
            try (var user = FileChannel.open(second.resolve("disks").resolve(id + ".ext4"))) {
                var start = CompletableFuture.supplyAsync(() -> other.start(spec(id)));
                var launcher = residents(copy.launcher(), LAUNCHER).getFirst();
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
    void machinePausedAtStartCanBeRemoved() {
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
