package dev.vivarium.model;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/// Host name or IP address in canonical form. Immutable.
///
/// `EXAMPLE.com.` is `example.com`, and `2130706433`, `0x7f.1` and `[::ffff:7f00:1]` are the address 127.0.0.1.
///
/// @param text    in lower case, without a trailing dot; an IPv6 address in brackets
/// @param address the address, if the text is one; a name has none until it is resolved
public record HostName(String text, Optional<InetAddress> address) {
    private static final int MAX_LENGTH = 253;
    private static final Pattern LABELS =
            Pattern.compile("([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");

    /// Text that the URL standard treats as an IPv4 address: its last label is a number.
    private static final Pattern NUMERIC = Pattern.compile("(.*\\.)?([0-9]+|0x[0-9a-f]*)");

    private static final Pattern BRACKETED = Pattern.compile("\\[[0-9a-f:.]{2,45}]");

    /// Parses a name or an address. Throws [IllegalArgumentException] with the violated rule.
    public static HostName of(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (lower.startsWith("[")) {
            return bracketed(lower);
        }
        String name = lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
        if (NUMERIC.matcher(name).matches()) {
            return new HostName(address(name));
        }
        if (name.length() > MAX_LENGTH || !LABELS.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "must be a host name of letters, digits, '-' and dots; one in another script begins with xn--");
        }
        return new HostName(name, Optional.empty());
    }

    private HostName(InetAddress address) {
        this(
                address instanceof Inet6Address ? "[" + address.getHostAddress() + "]" : address.getHostAddress(),
                Optional.of(address));
    }

    private static HostName bracketed(String text) {
        if (!BRACKETED.matcher(text).matches()) {
            throw new IllegalArgumentException("must have an IPv6 address between its brackets, and nothing else");
        }
        return new HostName(Inet6Address.ofLiteral(text.substring(1, text.length() - 1)));
    }

    private static InetAddress address(String text) {
        try {
            // Accepts octal, hexadecimal and abbreviated forms, like the resolvers of most programs.
            return Inet4Address.ofPosixLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("must not end in a number unless it is an address", e);
        }
    }

    /// Reports whether this is a subdomain of `other`.
    boolean isBelow(HostName other) {
        return address.isEmpty() && text.endsWith("." + other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
