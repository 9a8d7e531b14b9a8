package dev.vivarium.core.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;

/// Root file system of Debian packages, built by `mmdebstrap`. Stateless.
final class DebianImage {
    private static final String RELEASE = "bookworm";
    private static final List<String> PACKAGES = List.of(
            "bash",
            "ca-certificates",
            "coreutils",
            "curl",
            "diffutils",
            "file",
            "findutils",
            "gawk",
            "git",
            "grep",
            "jq",
            "less",
            "patch",
            "procps",
            "python3",
            "ripgrep",
            "sed",
            "tar",
            "unzip",
            "xz-utils");

    private DebianImage() {}

    static void build(Path root, Consumer<String> progress) throws IOException {
        BuildTool.run("mmdebstrap", command(root), Map.of(), progress);
    }

    /// Excludes documentation and translations, which are a third of the size.
    private static List<String> command(Path root) {
        var command = new ArrayList<>(List.of("mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory"));
        command.add("--include=" + String.join(",", PACKAGES));
        for (var excluded : List.of("doc/*", "man/*", "info/*", "locale/*", "lintian/*")) {
            command.add("--dpkgopt=path-exclude=/usr/share/" + excluded);
        }
        command.add("--dpkgopt=path-include=/usr/share/locale/locale.alias");
        command.addAll(List.of(release(), root.toString()));
        command.addAll(sources());
        return command;
    }

    /// Returns the release of the host if it is Debian, because the host can reach the mirror in its own sources.
    private static String release() {
        return isDebian() ? unquoted("VERSION_CODENAME", RELEASE) : RELEASE;
    }

    private static List<String> sources() {
        if (!isDebian()) {
            return List.of();
        }
        return List.of("/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources").stream()
                .filter(file -> Files.isReadable(Path.of(file)))
                .toList();
    }

    private static boolean isDebian() {
        return unquoted("ID", "").equals("debian");
    }

    private static String unquoted(String key, String otherwise) {
        return osRelease().getProperty(key, otherwise).replace("\"", "");
    }

    private static Properties osRelease() {
        var properties = new Properties();
        try (var reader = Files.newBufferedReader(Path.of("/etc/os-release"))) {
            properties.load(reader);
        } catch (IOException e) {
            // Without this file, the host counts as not Debian.
        }
        return properties;
    }
}
