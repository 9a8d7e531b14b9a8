package dev.vivarium.core.egress;

import java.net.InetAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Block of addresses with a common prefix, such as `10.0.0.0/8`. Immutable.
public record AddressBlock(InetAddress first, int bits) {
    private static final Pattern TEXT = Pattern.compile("([0-9a-fA-F.:]+)(?:/([0-9]{1,3}))?");

    public AddressBlock {
        if (bits < 0 || bits > first.getAddress().length * Byte.SIZE) {
            throw new IllegalArgumentException("must not have more bits than an address");
        }
    }

    /// Parses an address with an optional prefix length. Throws [IllegalArgumentException] for any other text.
    public static AddressBlock of(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("must be addresses such as 10.1.2.3 or 10.0.0.0/8, not '" + text + "'");
        }
        InetAddress first = InetAddress.ofLiteral(parts.group(1));
        int all = first.getAddress().length * Byte.SIZE;
        return new AddressBlock(first, parts.group(2) == null ? all : Integer.parseInt(parts.group(2)));
    }

    public boolean contains(InetAddress address) {
        byte[] mine = first.getAddress();
        byte[] theirs = address.getAddress();
        if (mine.length != theirs.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >>> (bit % Byte.SIZE);
            if (((mine[bit / Byte.SIZE] ^ theirs[bit / Byte.SIZE]) & mask) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return first.getHostAddress() + "/" + bits;
    }
}
