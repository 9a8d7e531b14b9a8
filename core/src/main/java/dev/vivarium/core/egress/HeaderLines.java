package dev.vivarium.core.egress;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/// Header lines of an HTTP message, in order. Immutable.
///
/// The parser rejects every line that two parsers could interpret differently.
record HeaderLines(List<Line> lines) {
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");

    /// Headers of one connection, which a proxy must not forward.
    private static final Set<String> HOP_BY_HOP = Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-authentication-info",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings");

    /// Headers that the proxy writes itself, from the parsed message.
    private static final Set<String> WRITTEN_BY_PROXY = Set.of("host", "content-length", "expect");

    /// A header with its name as received.
    record Line(String name, String value) {
        boolean isNamed(String other) {
            return name.equalsIgnoreCase(other);
        }
    }

    HeaderLines {
        lines = List.copyOf(lines);
    }

    /// Parses lines without line ends. Throws [IllegalArgumentException] for an invalid header.
    static HeaderLines of(List<String> texts) {
        var lines = new ArrayList<Line>();
        for (String text : texts) {
            int colon = text.indexOf(':');
            String name = text.substring(0, Math.max(0, colon));
            String value = text.substring(colon + 1);
            boolean isText = value.chars().allMatch(c -> c == '\t' || c >= ' ' && c != 0x7f && c <= 0xff);
            if (!NAME.matcher(name).matches() || !isText) {
                throw new IllegalArgumentException("a header line is invalid");
            }
            lines.add(new Line(name, value.strip()));
        }
        return new HeaderLines(lines);
    }

    /// Reports whether only the proxy may set a header of this name.
    static boolean isReservedForProxy(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return WRITTEN_BY_PROXY.contains(lower) || HOP_BY_HOP.contains(lower);
    }

    List<String> all(String name) {
        return lines.stream()
                .filter(line -> line.isNamed(name))
                .map(Line::value)
                .toList();
    }

    /// Returns the headers to forward: neither hop-by-hop headers nor those that the proxy writes itself.
    List<Line> forwarded() {
        Set<String> listed = new HashSet<>();
        for (String value : all("connection")) {
            for (String name : value.split(",")) {
                listed.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        return lines.stream()
                .filter(line -> !isReservedForProxy(line.name())
                        && !listed.contains(line.name().toLowerCase(Locale.ROOT)))
                .toList();
    }
}
