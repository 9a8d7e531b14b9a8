package dev.vivarium.core.provider.oci;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// What starts a machine, and how it is called. Immutable.
public enum OciRuntime {
    /// The launcher by itself: an OCI runtime does the same, and takes three times as long.
    NATIVE("native"),
    CRUN("crun"),
    RUNC("runc"),
    /// gVisor: a kernel of its own in user space, for code that is not trusted at all.
    RUNSC("runsc");

    private final String program;

    OciRuntime(String program) {
        this.program = program;
    }

    /// The program's usual name.
    public String program() {
        return program;
    }

    /// Reports whether a machine's processes are processes of the host.
    boolean sharesTheKernel() {
        return this != RUNSC;
    }

    /// What the launcher must know besides [#run]. crun runs only from a file that a machine cannot write to, and
    /// makes itself one by starting twice, unless it is told that it is one: the launcher binds it read-only.
    Map<String, String> environment() {
        return this == CRUN ? Map.of("_LIBCONTAINER_CLONED_BINARY", "1") : Map.of();
    }

    /// The command that starts the bundle in `stage` as `id` and leaves it alone. The runtime's own records go
    /// there too: each machine has its own, so that they disappear with it and no two calls wait for each other.
    List<String> run(Path binary, Path stage, String id) {
        var command = new ArrayList<>(
                List.of(binary.toString(), "--root", stage.resolve("state").toString()));
        if (this == RUNSC) {
            // The overlay is made by the launcher and the wire is a socket of the host; systrap needs no hardware.
            command.addAll(List.of("--platform=systrap", "--network=none", "--host-uds=open", "--overlay2=none"));
        }
        command.addAll(List.of("run", "--detach", "--bundle", stage.toString()));
        command.addAll(List.of("--pid-file", stage.resolve("pid").toString(), id));
        return command;
    }
}
