package dev.vivarium.core.egress;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Head of a request from a program. Immutable.
record RequestHead(String method, String target, boolean isOld, HeaderLines headers) {
    private static final Pattern LINE =
            Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) ([\\x21-\\x7e]{1,32768}) HTTP/1\\.([01])");

    /// Parses the lines. Throws [Rejection] for a request that the proxy does not accept.
    static RequestHead of(List<String> lines) {
        Matcher first = LINE.matcher(lines.isEmpty() ? "" : lines.getFirst());
        if (!first.matches()) {
            throw Rejection.malformed("this is an HTTP proxy, and the first line is no request of HTTP/1.1");
        }
        HeaderLines headers;
        try {
            headers = HeaderLines.of(lines.subList(1, lines.size()));
        } catch (IllegalArgumentException e) {
            throw Rejection.malformed(String.valueOf(e.getMessage()));
        }
        if (headers.all("host").size() > 1) {
            throw Rejection.malformed("there is more than one Host");
        }
        return new RequestHead(first.group(1), first.group(2), first.group(3).equals("0"), headers);
    }

    boolean isTunnel() {
        return method.equals("CONNECT");
    }

    /// Returns the destination. Rejects a tunnel with a body, because the body would be taken for tunnelled bytes.
    Destination destination() {
        if (!isTunnel()) {
            return Destination.ofRequest(target, method.equals("OPTIONS"));
        }
        if (!headers.all("content-length").isEmpty()
                || !headers.all("transfer-encoding").isEmpty()) {
            throw Rejection.malformed("CONNECT has no body");
        }
        return Destination.ofTunnel(target);
    }

    BodyFraming body() {
        try {
            BodyFraming body = BodyFraming.of(headers, new BodyFraming.Absent());
            if (isOld && body instanceof BodyFraming.Chunked) {
                throw new IllegalArgumentException("HTTP/1.0 has no chunks");
            }
            return body;
        } catch (IllegalArgumentException e) {
            throw Rejection.malformed(String.valueOf(e.getMessage()));
        }
    }

    boolean awaitsContinue() {
        return !isOld && headers.all("expect").stream().anyMatch("100-continue"::equalsIgnoreCase);
    }
}
