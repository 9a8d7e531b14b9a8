package dev.vivarium.core.provider.oci;

import static java.util.Map.entry;

import com.nimbusds.jose.util.JSONObjectUtils;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.model.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// OCI bundle of a machine: the content of its `config.json`, the same for all OCI runtimes. It names only paths below
/// the stage. Immutable.
record Bundle(Path stage, MachineSpec spec, int base, String cgroup, boolean limitsSwap, OciRuntime runtime) {
    void write(RunDirectory directory) throws IOException {
        FileTrees.writePrivately(directory.path().resolve("config.json"), JSONObjectUtils.toJSONString(config()));
    }

    private Map<String, Object> config() {
        return Map.ofEntries(
                entry("ociVersion", "1.0.2"),
                entry("hostname", spec.id().value()),
                entry("root", Map.of("path", "rootfs", "readonly", true)),
                entry("process", process()),
                entry("mounts", mounts()),
                entry("linux", linux()));
    }

    private Map<String, Object> linux() {
        var ids = List.of(Map.of("containerID", 0, "hostID", base, "size", UidSlots.RANGE));
        var namespaces =
                Stream.of("pid", "network", "ipc", "uts", "mount", "cgroup").map(type -> Map.of("type", type));
        return Map.ofEntries(
                entry("uidMappings", ids),
                entry("gidMappings", ids),
                entry(
                        "namespaces",
                        Stream.concat(namespaces, Stream.of(userNamespace())).toList()),
                entry("cgroupsPath", cgroup),
                entry("resources", resources()),
                entry("maskedPaths", Layout.MASKED),
                entry("readonlyPaths", Layout.READ_ONLY));
    }

    /// The user namespace of the launcher, which the user range owns and not root, so that the kernel counts its
    /// per-user limits for each machine. gVisor counts by itself.
    private Map<String, String> userNamespace() {
        return runtime.sharesTheKernel()
                ? Map.of("type", "user", "path", stage.resolve("userns").toString())
                : Map.of("type", "user");
    }

    /// The guest is root of its user range with four capabilities: to become the sandbox user, to signal its
    /// processes, and to drop the four for them. The guest loads the system call filter, which takes 16 ms in the
    /// runtime, and lowers its resource limits, for which runc would have to own the user namespace.
    private Map<String, Object> process() {
        var capabilities = List.of("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SETPCAP");
        return Map.ofEntries(
                entry("user", Map.of("uid", 0, "gid", 0)),
                entry("cwd", "/"),
                entry("noNewPrivileges", true),
                entry("args", Layout.guest(spec)),
                entry("env", List.of(Layout.SECRET + "=" + spec.secret())),
                entry(
                        "capabilities",
                        Map.of("bounding", capabilities, "permitted", capabilities, "effective", capabilities)));
    }

    private List<Map<String, Object>> mounts() {
        var layout = Layout.of(spec, runtime);
        var kernels = layout.mounts().stream().map(mount -> mount(mount, mount.source(), List.of()));
        var binds = layout.binds().stream()
                .map(mount -> mount(mount, stage.resolve(mount.source()).toString(), List.of("bind")));
        return Stream.concat(kernels, binds).toList();
    }

    private static Map<String, Object> mount(Layout.Mount mount, String source, List<String> kind) {
        var options = Stream.concat(kind.stream(), mount.options().stream()).toList();
        var type = kind.isEmpty() ? source : kind.getFirst();
        return Map.of("destination", mount.target(), "type", type, "source", source, "options", options);
    }

    private Map<String, Object> resources() {
        Limits limits = spec.limits();
        var memory = new HashMap<>(Map.of("limit", Cgroups.memoryBytes(limits)));
        if (limitsSwap) {
            memory.put("swap", Cgroups.memoryBytes(limits));
        }
        var all = new HashMap<String, Object>();
        all.put("memory", memory);
        all.put(
                "cpu",
                Map.of(
                        "quota",
                        Cgroups.quotaMicros(limits, CpuFairness.Level.NORMAL),
                        "period",
                        Cgroups.PERIOD_MICROS));
        // The threads of gVisor count as processes of the group, so a small limit would kill it at random.
        if (runtime.sharesTheKernel()) {
            all.put("pids", Map.of("limit", limits.processes()));
        }
        return all;
    }
}
