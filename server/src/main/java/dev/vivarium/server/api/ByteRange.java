package dev.vivarium.server.api;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Range of a file that a client requested, RFC 9110 section 14. Immutable.
record ByteRange(long offset, long length) {
    private static final Pattern SINGLE = Pattern.compile("(?i:bytes)=\\s*(\\d{0,18})-(\\d{0,18})\\s*");

    /// Returns the range in the header. Several ranges, another unit and invalid text count as no range: the
    /// response is then the whole file, as the standard allows.
    static Optional<ByteRange> of(String header, long size) {
        Matcher matcher = SINGLE.matcher(header);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String first = matcher.group(1);
        String last = matcher.group(2);
        if (first.isEmpty()) {
            return last.isEmpty() ? Optional.empty() : Optional.of(suffix(Long.parseLong(last), size));
        }
        long from = Long.parseLong(first);
        long to = last.isEmpty() ? Long.MAX_VALUE - 1 : Long.parseLong(last);
        return to < from ? Optional.empty() : Optional.of(new ByteRange(from, Math.min(to + 1, size) - from));
    }

    private static ByteRange suffix(long length, long size) {
        long shown = Math.min(length, size);
        return new ByteRange(size - shown, shown);
    }

    /// Reports whether the range contains at least one byte.
    boolean isSatisfiable() {
        return length > 0;
    }

    /// Returns the value of `Content-Range`.
    String of(long size) {
        return "bytes " + offset + "-" + (offset + length - 1) + "/" + size;
    }
}
