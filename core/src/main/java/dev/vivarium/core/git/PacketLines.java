package dev.vivarium.core.git;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/// Reader of the packet lines of git in a byte array. Skips flush packets. Confined to one thread.
final class PacketLines {
    private static final int LENGTH = 4;

    private final byte[] bytes;
    private int position;

    PacketLines(byte[] bytes) {
        this.bytes = bytes;
    }

    /// Returns the next line, or nothing at the end. Throws [IllegalArgumentException] for invalid input.
    Optional<byte[]> next() {
        while (position < bytes.length) {
            int length = lengthAt(position);
            if (length < LENGTH) {
                position += LENGTH;
                continue;
            }
            if (position + length > bytes.length) {
                throw new IllegalArgumentException("its last packet is incomplete");
            }
            byte[] line = Arrays.copyOfRange(bytes, position + LENGTH, position + length);
            position += length;
            return Optional.of(line);
        }
        return Optional.empty();
    }

    private int lengthAt(int at) {
        return at + LENGTH > bytes.length ? invalid() : length(bytes, at);
    }

    private static int invalid() {
        throw new IllegalArgumentException("its response is not from a git server");
    }

    /// Returns the length of the packet at a position, with its own four digits.
    static int length(byte[] bytes, int at) {
        try {
            return Integer.parseInt(new String(bytes, at, LENGTH, StandardCharsets.US_ASCII), 16);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a packet does not begin with its length", e);
        }
    }

    /// Returns a packet with this text.
    static byte[] packet(String text) {
        return packet(text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] packet(byte[] data) {
        byte[] size = "%04x".formatted(data.length + LENGTH).getBytes(StandardCharsets.US_ASCII);
        byte[] packet = Arrays.copyOf(size, LENGTH + data.length);
        System.arraycopy(data, 0, packet, LENGTH, data.length);
        return packet;
    }
}
