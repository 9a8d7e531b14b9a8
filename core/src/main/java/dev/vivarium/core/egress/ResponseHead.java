package dev.vivarium.core.egress;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The first lines of what a host answers. Immutable.
record ResponseHead(int status, String reason, HeaderLines headers) {
    private static final Pattern LINE =
            Pattern.compile("HTTP/1\\.[01] ([1-5][0-9]{2})(?: ([\\t\\x20-\\x7e\\x80-\\xff]*))?");

    /// Reads the lines; throws [IllegalArgumentException] for what is no answer.
    static ResponseHead of(List<String> lines) {
        Matcher first = LINE.matcher(lines.isEmpty() ? "" : lines.getFirst());
        if (!first.matches()) {
            throw new IllegalArgumentException("its first line is no status of HTTP/1.1");
        }
        String reason = first.group(2) == null ? "" : first.group(2);
        return new ResponseHead(
                Integer.parseInt(first.group(1)), reason, HeaderLines.of(lines.subList(1, lines.size())));
    }

    /// Another answer follows.
    boolean isInterim() {
        return status < 200 && status != 101;
    }

    /// How its body ends, if it answers a request of that method.
    BodyFraming body(String method) {
        boolean hasNone = method.equals("HEAD") || status == 204 || status == 304;
        BodyFraming said = BodyFraming.of(headers, new BodyFraming.UntilClose());
        return hasNone ? new BodyFraming.Absent() : said;
    }
}
