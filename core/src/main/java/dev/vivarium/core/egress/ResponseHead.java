package dev.vivarium.core.egress;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Head of a response from a host. Immutable.
record ResponseHead(int status, String reason, HeaderLines headers) {
    private static final Pattern LINE =
            Pattern.compile("HTTP/1\\.[01] ([1-5][0-9]{2})(?: ([\\t\\x20-\\x7e\\x80-\\xff]*))?");

    /// Parses the lines. Throws [IllegalArgumentException] for an invalid response.
    static ResponseHead of(List<String> lines) {
        Matcher first = LINE.matcher(lines.isEmpty() ? "" : lines.getFirst());
        if (!first.matches()) {
            throw new IllegalArgumentException("its first line is no status of HTTP/1.1");
        }
        String reason = first.group(2) == null ? "" : first.group(2);
        return new ResponseHead(
                Integer.parseInt(first.group(1)), reason, HeaderLines.of(lines.subList(1, lines.size())));
    }

    /// Reports whether another response follows.
    boolean isInterim() {
        return status < 200 && status != 101;
    }

    /// Returns the framing of the body of a response to this method.
    BodyFraming body(String method) {
        boolean hasNone = method.equals("HEAD") || status == 204 || status == 304;
        BodyFraming said = BodyFraming.of(headers, new BodyFraming.UntilClose());
        return hasNone ? new BodyFraming.Absent() : said;
    }
}
