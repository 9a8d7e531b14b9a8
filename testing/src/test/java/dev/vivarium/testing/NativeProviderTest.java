package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.oci.OciRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeProviderTest extends OciContract {
    @Override
    OciRuntime runtime() {
        return OciRuntime.NATIVE;
    }

    @Test
    void aLauncherThatDiedIsReplaced() throws IOException {
        var program = Files.copy(guestBinary, home.resolve("a-guest-of-its-own"));
        try (var other = open(home.resolve("other"), program)) {
            for (int round = 0; round < 3; round++) {
                var machine = other.start(spec(newId()));
                assertThat(machine.isAlive()).isTrue();
                other.remove(machine.id(), Disk.ERASE);
                var launchers = launchers(program);
                assertThat(launchers).hasSize(1);
                launchers.forEach(ProcessHandle::destroyForcibly);
                launchers.forEach(launcher -> launcher.onExit().join());
            }
        }
        assertThat(launchers(program)).isEmpty();
    }

    private static List<ProcessHandle> launchers(Path program) {
        return ProcessHandle.current()
                .children()
                .filter(child -> child.info()
                        .command()
                        .filter(program.toString()::equals)
                        .isPresent())
                .toList();
    }
}
