package dev.vivarium.server.preview;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// Filter for the cookies of previews. Stateless.
///
/// It splits cookies at every semicolon, as browsers do (RFC 6265, 5.2). The server's own cookies never reach a
/// program, and a program's cookies never reach another program. If programs share an origin, the names of their
/// cookies carry a prefix, and the server forwards only cookies with that prefix.
final class Cookies {
    /// Name of the cookie that authenticates a browser.
    static final String OURS = "viv_preview";

    /// Prefix of the names of all cookies that the server sets.
    private static final String OUR_MARK = "viv_";

    private static final String PROGRAMS_MARK = "viv_in_";

    private Cookies() {}

    /// Returns all values of the authentication cookie. A page can set further cookies of the same name.
    static List<String> tickets(List<String> headers) {
        return pairs(headers)
                .filter(pair -> name(pair).equals(OURS))
                .map(pair -> pair.substring(OURS.length() + 1).strip())
                .toList();
    }

    /// Returns the cookies of a request that the program may see.
    static List<String> inward(List<String> headers, PreviewAddress address) {
        Stream<String> theirs = address.sharesOrigin()
                ? pairs(headers)
                        .filter(pair -> pair.startsWith(PROGRAMS_MARK))
                        .map(pair -> pair.substring(PROGRAMS_MARK.length()))
                : pairs(headers).filter(pair -> !isOurs(pair));
        var kept = theirs.toList();
        return kept.isEmpty() ? List.of() : List.of(String.join("; ", kept));
    }

    /// Restricts a program's `Set-Cookie` to its own address. Returns nothing if the program uses a reserved name.
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
