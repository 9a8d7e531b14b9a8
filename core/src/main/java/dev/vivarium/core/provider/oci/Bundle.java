package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.model.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// OCI bundle of a machine: the content of its `config.json`, the same for all OCI runtimes. It names only paths below
/// the stage. Immutable.
record Bundle(Path stage, MachineSpec spec, int base, String cgroup, boolean limitsSwap, OciRuntime runtime) {
    void write(RunDirectory directory) throws IOException {
        FileTrees.writePrivately(directory.path().resolve("config.json"), config());
    }

    private String config() {
        return """
                {"ociVersion": "1.0.2", "hostname": %s,
                 "root": {"path": "rootfs", "readonly": true},
                 "process": %s,
                 "mounts": %s,
                 "linux": {
                  "uidMappings": [{"containerID": 0, "hostID": %d, "size": %d}],
                  "gidMappings": [{"containerID": 0, "hostID": %d, "size": %d}],
                  "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"},
                                 {"type": "mount"}, {"type": "cgroup"}, %s],
                  "cgroupsPath": %s,
                  "resources": %s,
                  "maskedPaths": %s,
                  "readonlyPaths": %s}}
                """.formatted(
                        quote(spec.id().value()),
                        process(),
                        mounts(),
                        base,
                        UidSlots.RANGE,
                        base,
                        UidSlots.RANGE,
                        userNamespace(),
                        quote(cgroup),
                        resources(),
                        list(Layout.MASKED),
                        list(Layout.READ_ONLY));
    }

    /// The user namespace of the launcher, which the user range owns and not root, so that the kernel counts its
    /// per-user limits for each machine. gVisor counts by itself.
    private String userNamespace() {
        return runtime.sharesTheKernel()
                ? "{\"type\": \"user\", \"path\": %s}"
                        .formatted(quote(stage.resolve("userns").toString()))
                : "{\"type\": \"user\"}";
    }

    /// The guest is root of its user range with four capabilities: to become the sandbox user, to signal its
    /// processes, and to drop the four for them. The guest loads the system call filter, which takes 16 ms in the
    /// runtime, and lowers its resource limits, for which runc would have to own the user namespace.
    private String process() {
        var capabilities = list(List.of("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SETPCAP"));
        return """
                {"user": {"uid": 0, "gid": 0}, "cwd": "/", "noNewPrivileges": true,
                  "args": %s, "env": %s,
                  "capabilities": {"bounding": %s, "permitted": %s, "effective": %s}}\
                """.formatted(
                        list(Layout.guest(spec)),
                        list(List.of(Layout.SECRET + "=" + spec.secret())),
                        capabilities,
                        capabilities,
                        capabilities);
    }

    private String mounts() {
        var layout = Layout.of(spec, runtime);
        var kernels = layout.mounts().stream().map(mount -> mount(mount, mount.source(), List.of()));
        var binds = layout.binds().stream()
                .map(mount -> mount(mount, stage.resolve(mount.source()).toString(), List.of("bind")));
        return Stream.concat(kernels, binds).collect(Collectors.joining(",\n  ", "[", "]"));
    }

    private static String mount(Layout.Mount mount, String source, List<String> kind) {
        var options = Stream.concat(kind.stream(), mount.options().stream()).toList();
        var type = kind.isEmpty() ? source : kind.getFirst();
        return "{\"destination\": %s, \"type\": %s, \"source\": %s, \"options\": %s}"
                .formatted(quote(mount.target()), quote(type), quote(source), list(options));
    }

    private String resources() {
        Limits limits = spec.limits();
        var swap = limitsSwap ? ", \"swap\": " + limits.memoryBytes() : "";
        // The threads of gVisor count as processes of the group, so a small limit would kill it at random.
        var pids = runtime.sharesTheKernel() ? ", \"pids\": {\"limit\": " + limits.processes() + "}" : "";
        return "{\"memory\": {\"limit\": %d%s}, \"cpu\": {\"quota\": %d, \"period\": %d}%s}"
                .formatted(limits.memoryBytes(), swap, Cgroups.quotaMicros(limits), Cgroups.PERIOD_MICROS, pids);
    }

    private static String list(List<String> values) {
        return values.stream().map(Bundle::quote).collect(Collectors.joining(", ", "[", "]"));
    }

    /// A JSON string. All characters except plain ASCII are escaped, so that the encoding does not matter.
    static String quote(String text) {
        var quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append("\\u%04x".formatted((int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
