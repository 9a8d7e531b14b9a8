package dev.vivarium.cli.sync;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// Validation of untrusted names from a sandbox. Refuses names that leave the directory or collide with another file on
/// some systems.
public final class Names {
    private static final int MAX_SEGMENT = 255;
    /// Names of devices on some systems.
    private static final Set<String> RESERVED = Set.of("con", "prn", "aux", "nul");

    private Names() {}

    /// Refused paths with the reason.
    public static Map<String, String> refused(Collection<String> paths) {
        var refused = new TreeMap<String, String>();
        var folded = new HashMap<String, List<String>>();
        for (String path : paths) {
            problem(path).ifPresent(why -> refused.put(path, why));
            folded.computeIfAbsent(fold(path), _ -> new ArrayList<>()).add(path);
        }
        for (List<String> same : folded.values()) {
            if (same.size() > 1) {
                same.forEach(path -> refused.putIfAbsent(
                        path,
                        "differs only in case from " + (same.getFirst().equals(path) ? same.get(1) : same.getFirst())));
            }
        }
        return refused;
    }

    static Optional<String> problem(String path) {
        if (path.isEmpty() || path.startsWith("/")) {
            return Optional.of("is not a relative path");
        }
        if (path.chars().anyMatch(Character::isISOControl)) {
            return Optional.of("has a line feed or another control character in its name");
        }
        if (path.indexOf('\\') >= 0 || path.indexOf('\uFFFD') >= 0) {
            return Optional.of("has a backslash or an invalid character in its name");
        }
        for (String segment : path.split("/", -1)) {
            if (segment.isEmpty() || segment.equals(".") || segment.equals("..")) {
                return Optional.of("leaves the directory or has an empty part");
            }
            if (segment.length() > MAX_SEGMENT || RESERVED.contains(segment.toLowerCase(Locale.ROOT))) {
                return Optional.of("has a part that some systems do not support");
            }
        }
        return Optional.empty();
    }

    private static String fold(String path) {
        return Normalizer.normalize(path, Normalizer.Form.NFC).toLowerCase(Locale.ROOT);
    }
}
