package dev.vivarium.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Parsed path of a route. Immutable.
record PathTemplate(Route route, List<String> parts) {
    private static final String REST = "…}";

    static PathTemplate of(Route route) {
        return new PathTemplate(route, Paths.split(route.template()));
    }

    /// Returns the raw, undecoded parameters of a path, if the path matches.
    Optional<Map<String, String>> match(List<String> segments) {
        boolean takesRest = parts.getLast().endsWith(REST);
        if (takesRest ? segments.size() < parts.size() : segments.size() != parts.size()) {
            return Optional.empty();
        }
        int single = takesRest ? parts.size() - 1 : parts.size();
        for (int i = 0; i < single; i++) {
            if (!isParameter(parts.get(i)) && !parts.get(i).equals(segments.get(i))) {
                return Optional.empty();
            }
        }
        return Optional.of(raw(segments, single));
    }

    private Map<String, String> raw(List<String> segments, int single) {
        var raw = new LinkedHashMap<String, String>();
        for (int i = 0; i < single; i++) {
            if (isParameter(parts.get(i))) {
                raw.put(name(parts.get(i), "}"), segments.get(i));
            }
        }
        if (single < parts.size()) {
            raw.put(name(parts.getLast(), REST), String.join("/", segments.subList(single, segments.size())));
        }
        return raw;
    }

    private static boolean isParameter(String part) {
        return part.startsWith("{");
    }

    private static String name(String part, String end) {
        return part.substring(1, part.length() - end.length());
    }
}
