package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Profiles in `~/.config/viv/config.toml`. The parser supports sections, comments and quoted values of TOML; anything
/// else is an error with its line number. Immutable.
record Profiles(Path file, String chosen, Map<String, Map<String, String>> sections) {
    static final String STANDARD = "default";

    private static final Set<String> KEYS = Set.of("server", "key", "key-file", "user");
    private static final Pattern SECTION = Pattern.compile("\\[profile\\.([A-Za-z0-9_-]+)]");
    private static final Pattern PAIR = Pattern.compile("([a-z-]+)\\s*=\\s*(?:\"([^\"\\\\]*)\"|'([^']*)')");

    /// Reads the file of this environment. A missing file counts as an empty one.
    static Profiles of(Map<String, String> env) {
        Path file = file(env);
        try {
            return Files.exists(file) ? parse(file, Files.readAllLines(file)) : new Profiles(file, STANDARD, Map.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path file(Map<String, String> env) {
        String given = env.get("VIV_CONFIG_FILE");
        return given != null ? Path.of(given) : Directories.config(env).resolve("config.toml");
    }

    static Profiles parse(Path file, List<String> lines) {
        var sections = new HashMap<String, Map<String, String>>();
        String chosen = STANDARD;
        String current = "";
        for (int i = 0; i < lines.size(); i++) {
            String line = withoutComment(lines.get(i)).strip();
            Matcher section = SECTION.matcher(line);
            Matcher pair = PAIR.matcher(line);
            if (section.matches()) {
                current = section.group(1);
                sections.putIfAbsent(current, new HashMap<>());
            } else if (pair.matches() && current.isEmpty() && pair.group(1).equals("profile")) {
                chosen = value(pair);
            } else if (pair.matches() && !current.isEmpty() && KEYS.contains(pair.group(1))) {
                sections.computeIfAbsent(current, _ -> new HashMap<>()).put(pair.group(1), value(pair));
            } else if (!line.isEmpty()) {
                throw wrong(
                        file,
                        i + 1,
                        "is invalid; write [profile.NAME] and below it server, key, key-file or" + " user = \"…\"");
            }
        }
        return new Profiles(file, chosen, sections);
    }

    /// Returns the profile. A requested name must exist.
    Map<String, String> require(String name) {
        Map<String, String> found = sections.get(name);
        if (found == null && !name.equals(STANDARD)) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "profile", "'" + name + "' is not in " + file + ", which has " + names()));
        }
        return found == null ? Map.of() : found;
    }

    /// Returns the key of a profile: from the file, which no other user may then read, or from another file.
    Optional<String> key(Map<String, String> profile) {
        if (profile.containsKey("key")) {
            requirePrivate();
            return Optional.of(profile.get("key"));
        }
        return Optional.ofNullable(profile.get("key-file")).map(this::read);
    }

    private String read(String name) {
        Path home = Path.of(System.getProperty("user.home"));
        Path path = name.startsWith("~/") ? home.resolve(name.substring(2)) : Path.of(name);
        try {
            return Files.readString(path).strip();
        } catch (IOException e) {
            throw new SandboxException(
                    new Failure.NotAuthenticated("the key file " + path + ", which " + file + " names, cannot be read"),
                    e);
        }
    }

    private void requirePrivate() {
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
            if (permissions.contains(PosixFilePermission.GROUP_READ)
                    || permissions.contains(PosixFilePermission.OTHERS_READ)) {
                throw new SandboxException(new Failure.NotAuthenticated(
                        file + " has a key and other users can read it; chmod 600 " + file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String names() {
        return sections.isEmpty()
                ? "none"
                : String.join(", ", sections.keySet().stream().sorted().toList());
    }

    private static String value(Matcher pair) {
        return pair.group(2) != null ? pair.group(2) : pair.group(3);
    }

    /// A `#` inside quotes is part of the value.
    private static String withoutComment(String line) {
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (quote == 0 && c == '#') {
                return line.substring(0, i);
            }
            if (c == quote) {
                quote = 0;
            } else if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            }
        }
        return line;
    }

    private static SandboxException wrong(Path file, int line, String why) {
        return new SandboxException(new Failure.InvalidRequest(file + " line " + line, why));
    }
}
