package dev.vivarium.server.preview;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// Cookies on their way through. They are taken apart as browsers do it (RFC 6265, 5.2): at every semicolon.
///
/// Ours never reach a program, and a program's never reach another. Where programs share an origin, theirs carry a
/// mark in their name, and nothing without it is passed on. Stateless.
final class Cookies {
    /// The name of ours that lets a browser in.
    static final String OURS = "viv_preview";

    /// What the names of all our cookies begin with.
    private static final String OUR_MARK = "viv_";

    private static final String PROGRAMS_MARK = "viv_in_";

    private Cookies() {}

    /// The values of the cookie that lets in; a page may have planted others under the same name.
    static List<String> tickets(List<String> headers) {
        return pairs(headers)
                .filter(pair -> name(pair).equals(OURS))
                .map(pair -> pair.substring(OURS.length() + 1).strip())
                .toList();
    }

    /// What the program may see of the cookies of a request.
    static List<String> inward(List<String> headers, PreviewAddress address) {
        Stream<String> theirs = address.sharesOrigin()
                ? pairs(headers)
                        .filter(pair -> pair.startsWith(PROGRAMS_MARK))
                        .map(pair -> pair.substring(PROGRAMS_MARK.length()))
                : pairs(headers).filter(pair -> !isOurs(pair));
        var kept = theirs.toList();
        return kept.isEmpty() ? List.of() : List.of(String.join("; ", kept));
    }

    /// A program's `Set-Cookie`, confined to its own address; nothing when it takes one of our names.
    static List<String> outward(String header, PreviewAddress address) {
        var parts = new ArrayList<String>();
        String path = "/";
        for (String part : header.split(";", -1)) {
            String attribute = parts.isEmpty() ? "" : name(part).toLowerCase(Locale.ROOT);
            if (attribute.equals("path")) {
                path = part.substring(part.indexOf('=') + 1).strip();
            } else if (!attribute.equals("domain")) {
                parts.add(part.strip());
            }
        }
        if (isOurs(parts.getFirst()) || parts.getFirst().indexOf('=') <= 0) {
            return List.of();
        }
        String mark = address.sharesOrigin() ? PROGRAMS_MARK : "";
        parts.set(0, mark + parts.getFirst());
        parts.add("Path=" + address.prefix() + (path.startsWith("/") ? path : "/"));
        return List.of(String.join("; ", parts));
    }

    private static Stream<String> pairs(List<String> headers) {
        return headers.stream()
                .flatMap(header -> Stream.of(header.split(";")))
                .map(String::strip)
                .filter(pair -> pair.indexOf('=') > 0);
    }

    private static String name(String pair) {
        int equals = pair.indexOf('=');
        return (equals < 0 ? pair : pair.substring(0, equals)).strip();
    }

    private static boolean isOurs(String pair) {
        String name = name(pair).toLowerCase(Locale.ROOT);
        return name.startsWith(OUR_MARK) || name.startsWith("__host-" + OUR_MARK);
    }
}
