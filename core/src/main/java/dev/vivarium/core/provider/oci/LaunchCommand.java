package dev.vivarium.core.provider.oci;

import dev.vivarium.core.image.Image;
import dev.vivarium.core.provider.MachineSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// How the launcher is called: the guest program on the host, which builds a machine's file systems in a mount
/// namespace of its own and then becomes the runtime, or starts the machine by itself. Immutable.
record LaunchCommand(OciConfig config, Place place, Disks disks, Cgroups cgroups) {

    /// The command that starts a machine in `directory`, with the user range `slot`. Makes or repairs the disk.
    List<String> line(MachineSpec spec, Image image, RunDirectory directory, int slot) throws IOException {
        var line = new ArrayList<>(List.of(config.guestBinary().toString(), "launch"));
        line.addAll(List.of("--lock", directory.lock().toString()));
        line.addAll(List.of("--stage", place.stage().toString()));
        line.addAll(List.of("--directory", directory.path().toString()));
        line.addAll(List.of("--base", Integer.toUnsignedString(UidSlots.base(slot))));
        line.addAll(disks.attach(spec.id(), spec.limits().diskBytes()));
        line.addAll(List.of("--lower", image.root().toString()));
        for (var shared : image.shared()) {
            line.addAll(List.of("--bind", shared.toString(), "rootfs" + shared));
        }
        line.addAll(List.of("--bind", config.guestBinary().toString(), "guest"));
        line.addAll(config.runtime() == OciRuntime.NATIVE ? byItself(spec) : byRuntime(spec));
        return line;
    }

    /// What the launcher finds in its environment; nobody but root can read that.
    Map<String, String> environment(MachineSpec spec) {
        return config.runtime() == OciRuntime.NATIVE
                ? Map.of(Layout.SECRET, spec.secret())
                : config.runtime().environment();
    }

    private List<String> byRuntime(MachineSpec spec) {
        var options = new ArrayList<>(List.of("--bind", config.runtimeBinary().toString(), RunDirectory.RUNTIME));
        cgroups.hidden().forEach(mount -> options.addAll(List.of("--hide", mount.toString())));
        var binary = place.stage().resolve(RunDirectory.RUNTIME);
        options.add("--");
        options.addAll(config.runtime().run(binary, place.stage(), spec.id().value()));
        return options;
    }

    private List<String> byItself(MachineSpec spec) {
        var layout = Layout.of(spec, config.runtime());
        var options = new ArrayList<>(List.of("--start", spec.id().value()));
        options.addAll(cgroups.of(spec.id()).launchOptions(spec.limits()));
        layout.mounts().forEach(mount -> options.addAll(words("--mount", mount)));
        layout.binds().forEach(mount -> options.addAll(words("--inner-bind", mount)));
        Layout.MASKED.forEach(path -> options.addAll(List.of("--mask", path)));
        Layout.READ_ONLY.forEach(path -> options.addAll(List.of("--read-only", path)));
        options.add("--");
        options.addAll(Layout.GUEST);
        return options;
    }

    private static List<String> words(String option, Layout.Mount mount) {
        return List.of(option, mount.source(), mount.target(), String.join(",", mount.options()));
    }
}
