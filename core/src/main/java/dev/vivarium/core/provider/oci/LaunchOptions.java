package dev.vivarium.core.provider.oci;

import dev.vivarium.core.image.Image;
import dev.vivarium.core.provider.MachineSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Options of the launcher. The launcher builds the file systems of a machine in its own mount namespace, and then
/// executes the runtime or starts the machine itself. Immutable.
record LaunchOptions(OciConfig config, HostPaths place, Disks disks, Cgroups cgroups) {

    /// Options that start a machine in `directory`, with the user range `slot`. Creates or repairs the disk.
    List<String> of(MachineSpec spec, Image image, RunDirectory directory, int slot) throws IOException {
        var options = new ArrayList<String>();
        options.addAll(List.of("--lock", directory.lock().toString()));
        options.addAll(List.of("--stage", place.stage().toString()));
        options.addAll(List.of("--directory", directory.path().toString()));
        options.addAll(List.of("--base", Integer.toUnsignedString(UidSlots.base(slot))));
        options.addAll(disks.attach(spec.id(), spec.limits().diskBytes(), spec.store()));
        options.addAll(List.of("--lower", image.root().toString()));
        for (var shared : image.shared()) {
            options.addAll(List.of("--bind", shared.source().toString(), "rootfs" + shared.target()));
        }
        options.addAll(List.of("--bind", config.programs().guest().toString(), "guest"));
        options.addAll(config.runtime() == OciRuntime.NATIVE ? nativeOptions(spec) : runtimeOptions(spec));
        return options;
    }

    private List<String> runtimeOptions(MachineSpec spec) {
        var options = new ArrayList<>(List.of("--bind", config.runtimeBinary().toString(), RunDirectory.RUNTIME));
        cgroups.hidden().forEach(mount -> options.addAll(List.of("--hide", mount.toString())));
        var binary = place.stage().resolve(RunDirectory.RUNTIME);
        options.add("--");
        options.addAll(config.runtime().run(binary, place.stage(), spec.id().value()));
        return options;
    }

    private List<String> nativeOptions(MachineSpec spec) {
        var layout = Layout.of(spec, config.runtime());
        var options = new ArrayList<>(List.of("--start", spec.id().value()));
        options.addAll(cgroups.of(spec.id()).launchOptions(spec.limits()));
        layout.mounts().forEach(mount -> options.addAll(words("--mount", mount)));
        layout.binds().forEach(mount -> options.addAll(words("--inner-bind", mount)));
        Layout.MASKED.forEach(path -> options.addAll(List.of("--mask", path)));
        Layout.READ_ONLY.forEach(path -> options.addAll(List.of("--read-only", path)));
        options.add("--");
        options.addAll(Layout.guest(spec));
        return options;
    }

    private static List<String> words(String option, Layout.Mount mount) {
        return List.of(option, mount.source(), mount.target(), String.join(",", mount.options()));
    }
}
