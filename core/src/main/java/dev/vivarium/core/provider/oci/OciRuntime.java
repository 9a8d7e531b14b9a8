package dev.vivarium.core.provider.oci;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Runtime that starts machines, with its command line. Immutable.
public enum OciRuntime {
    /// The launcher alone. An OCI runtime does the same in three times the time.
    NATIVE("native"),
    CRUN("crun"),
    RUNC("runc"),
    /// gVisor: a separate kernel in user space, for untrusted code.
    RUNSC("runsc");

    private final String program;

    OciRuntime(String program) {
        this.program = program;
    }

    /// Usual name of the program.
    public String program() {
        return program;
    }

    /// Reports whether the processes of a machine are processes of the host.
    boolean sharesTheKernel() {
        return this != RUNSC;
    }

    /// Environment of the runtime, for the launcher. crun runs only from a file that a machine cannot write, and
    /// otherwise copies itself and starts again. The variable skips the copy, because the launcher mounts crun
    /// read-only.
    Map<String, String> environment() {
        return this == CRUN ? Map.of("_LIBCONTAINER_CLONED_BINARY", "1") : Map.of();
    }

    /// Command that starts the bundle in `stage` as `id`, detached. The stage also contains the state of the
    /// runtime: each machine has its own state, which is deleted with it, and calls do not wait for each other.
    List<String> run(Path binary, Path stage, String id) {
        var command = new ArrayList<>(
                List.of(binary.toString(), "--root", stage.resolve("state").toString()));
        if (this == RUNSC) {
            // The launcher creates the overlay, the wire is a socket of the host, and systrap needs no hardware
            // support.
            command.addAll(List.of("--platform=systrap", "--network=none", "--host-uds=open", "--overlay2=none"));
        }
        command.addAll(List.of("run", "--detach", "--bundle", stage.toString()));
        command.addAll(List.of("--pid-file", stage.resolve("pid").toString(), id));
        return command;
    }
}
