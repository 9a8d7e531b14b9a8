package dev.vivarium.core.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.provider.oci.Cgroups.Mode;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Detection of the cgroup version of a host. The provider contracts test the limits.
class CgroupsTest {
    private static final String BRANCH = "branch";

    @TempDir
    Path unified;

    private Map<String, Path> v1;

    @BeforeEach
    void mountVersionOne() {
        v1 = Stream.of("cpu", "cpuacct", "memory", "pids", "freezer")
                .collect(Collectors.toMap(Function.identity(), Path.of("/sys/fs/cgroup")::resolve));
    }

    private void offer(String controllers) throws IOException {
        Files.writeString(unified.resolve("cgroup.controllers"), controllers + "\n");
    }

    @Test
    void versionTwoIsUsedIfItHasTheControllers() throws IOException {
        offer("cpuset cpu io memory pids");
        assertThat(Cgroups.of(Map.of(), Optional.of(unified), BRANCH).mode()).isEqualTo(Mode.V2);
        assertThat(Cgroups.of(Map.of("systemd", unified), Optional.of(unified), BRANCH)
                        .mode())
                .isEqualTo(Mode.V2);
    }

    @Test
    void versionOneIsUsedIfItHasTheControllers() throws IOException {
        offer("");
        assertThat(Cgroups.of(v1, Optional.empty(), BRANCH).mode()).isEqualTo(Mode.V1);
        assertThat(Cgroups.of(v1, Optional.of(unified), BRANCH).mode()).isEqualTo(Mode.HYBRID);
    }

    /// Uses the cgroups of the host.
    @Test
    void allSandboxesTogetherHaveAMultipleOfTheUsualWeight() throws IOException {
        String branch = "test-" + ProcessHandle.current().pid();
        try (var cgroups = Cgroups.open(branch)) {
            boolean isV2 = cgroups.mode() == Mode.V2;
            Path root = Path.of("/sys/fs/cgroup", isV2 ? "vivarium" : "cpu/vivarium");
            cgroups.weight(3);
            assertThat(ControlFiles.number(root, isV2 ? "cpu.weight" : "cpu.shares"))
                    .isEqualTo(isV2 ? 300 : 3072);
            cgroups.weight(1);
        }
    }

    @Test
    void missingVersionTwoControllerIsReported() throws IOException {
        offer("cpuset io memory pids");
        assertThatThrownBy(() -> Cgroups.of(Map.of(), Optional.of(unified), BRANCH))
                .isInstanceOf(SandboxException.class)
                .hasMessageEndingWith("lack cpu");
    }

    @Test
    void missingVersionOneControllersAreReported() throws IOException {
        offer("");
        v1.remove("freezer");
        v1.remove("memory");
        assertThatThrownBy(() -> Cgroups.of(v1, Optional.of(unified), BRANCH))
                .hasMessageEndingWith("lack freezer, memory");
    }
}
