package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/// gVisor, if a recent version is installed. The package of the distribution is too old for this provider.
@EnabledIf("isInstalled")
class RunscProviderTest extends ProviderContract implements HostTracesContract {
    private static final Path RUNSC = Path.of("/usr/local/bin/runsc");

    static boolean isInstalled() {
        return Files.isExecutable(RUNSC);
    }

    @Override
    protected Provider open(Path home, GuestPrograms programs) {
        return OciProvider.open(new OciConfig(home, programs, OciRuntime.RUNSC, RUNSC));
    }

    /// The gVisor kernel needs memory of the machine.
    @Override
    protected MachineSpec spec(SandboxId id) {
        return new MachineSpec(id, SECRET, "host", Limits.STANDARD, STORE);
    }

    @Override
    protected int concurrentMachines() {
        return 4;
    }

    @Test
    void hostFilesAreUnreachable() throws IOException {
        var canary = Files.writeString(home.resolve("canary.txt"), "CANARY");
        try (var box = start()) {
            var attempts = box.output("cat %1$s /proc/1/root%1$s ../../../..%1$s; ln -s %1$s link; cat link; echo done"
                    .formatted(canary));
            assertThat(attempts).endsWith("done").doesNotContain("CANARY");
        }
    }

    @Test
    void kernelIsNotThatOfTheHost() throws IOException {
        try (var box = start()) {
            var host = Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip();
            assertThat(box.output("uname -r")).isNotEqualTo(host);
        }
    }

    @Test
    void guestCannotBeKilledByTheSandbox() {
        try (var box = start()) {
            box.run("kill -9 1; kill -9 -1");
            assertThat(box.output("echo alive")).isEqualTo("alive");
        }
    }
}
