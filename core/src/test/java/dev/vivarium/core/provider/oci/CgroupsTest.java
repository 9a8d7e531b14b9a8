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

/// Which cgroups a host is taken to have. What they then do is for the provider's contracts to show.
class CgroupsTest {
    private static final String BRANCH = "branch";

    @TempDir
    Path unified;

    private Map<String, Path> first;

    @BeforeEach
    void mountTheFirstVersion() {
        first = Stream.of("cpu", "cpuacct", "memory", "pids", "freezer")
                .collect(Collectors.toMap(Function.identity(), Path.of("/sys/fs/cgroup")::resolve));
    }

    private void offer(String controllers) throws IOException {
        Files.writeString(unified.resolve("cgroup.controllers"), controllers + "\n");
    }

    @Test
    void theUnifiedHierarchyServesWhereItHasTheControllers() throws IOException {
        offer("cpuset cpu io memory pids");
        assertThat(Cgroups.of(Map.of(), Optional.of(unified), BRANCH).mode()).isEqualTo(Mode.V2);
        assertThat(Cgroups.of(Map.of("systemd", unified), Optional.of(unified), BRANCH)
                        .mode())
                .isEqualTo(Mode.V2);
    }

    @Test
    void theFirstVersionServesWhereTheControllersAreItsOwn() throws IOException {
        offer("");
        assertThat(Cgroups.of(first, Optional.empty(), BRANCH).mode()).isEqualTo(Mode.V1);
        assertThat(Cgroups.of(first, Optional.of(unified), BRANCH).mode()).isEqualTo(Mode.HYBRID);
    }

    /// On the host's own cgroups. In the unified hierarchy the server has a group of its own, and the default is
    /// right.
    @Test
    void allMachinesTogetherWeighMoreThanOneThreadOfTheServer() throws IOException {
        String branch = "test-" + ProcessHandle.current().pid();
        try (var cgroups = Cgroups.open(branch)) {
            if (cgroups.mode() != Mode.V2) {
                Path group = Path.of("/sys/fs/cgroup/cpu/vivarium", branch);
                assertThat(ControlFiles.number(group, "cpu.shares")).isGreaterThan(1024);
                assertThat(ControlFiles.number(group.getParent(), "cpu.shares")).isGreaterThan(1024);
            }
        }
    }

    @Test
    void whatTheUnifiedHierarchyLacksIsNamed() throws IOException {
        offer("cpuset io memory pids");
        assertThatThrownBy(() -> Cgroups.of(Map.of(), Optional.of(unified), BRANCH))
                .isInstanceOf(SandboxException.class)
                .hasMessageEndingWith("lack cpu");
    }

    @Test
    void whatTheFirstVersionLacksIsNamed() throws IOException {
        offer("");
        first.remove("freezer");
        first.remove("memory");
        assertThatThrownBy(() -> Cgroups.of(first, Optional.of(unified), BRANCH))
                .hasMessageEndingWith("lack freezer, memory");
    }
}
