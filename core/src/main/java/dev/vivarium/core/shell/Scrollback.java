package dev.vivarium.core.shell;

/// Ring buffer of the last output of a terminal, addressed by position since its start. Guarded by the lock of its
/// shell.
final class Scrollback {
    static final int CAPACITY = 256 * 1024;
    private static final int INITIAL = 4 * 1024;

    /// The byte at position p is at index `p % length`. The length grows with the output, up to the capacity.
    private byte[] ring = new byte[INITIAL];

    private long first;
    private long end;

    /// Starts at `position`. Earlier output is unknown.
    Scrollback(long position) {
        skipTo(position);
    }

    /// Returns the position of the oldest byte in the buffer.
    long first() {
        return first;
    }

    /// Returns the position after the last byte.
    long end() {
        return end;
    }

    /// Drops the content and continues at `position`.
    void skipTo(long position) {
        first = position;
        end = position;
    }

    void append(byte[] bytes, int offset, int length) {
        int from = Math.max(offset, offset + length - CAPACITY);
        end += from - offset;
        int count = offset + length - from;
        makeRoom(count);
        int at = (int) (end % ring.length);
        int ahead = Math.min(count, ring.length - at);
        System.arraycopy(bytes, from, ring, at, ahead);
        System.arraycopy(bytes, from + ahead, ring, 0, count - ahead);
        end += count;
        first = Math.max(first, end - ring.length);
    }

    /// Returns up to `max` bytes from `position`, which must be between [#first] and [#end].
    byte[] read(long position, int max) {
        var bytes = new byte[(int) Math.min(max, end - position)];
        int at = (int) (position % ring.length);
        int ahead = Math.min(bytes.length, ring.length - at);
        System.arraycopy(ring, at, bytes, 0, ahead);
        System.arraycopy(ring, 0, bytes, ahead, bytes.length - ahead);
        return bytes;
    }

    private void makeRoom(int count) {
        long wanted = Math.min(CAPACITY, end - first + count);
        int length = ring.length;
        while (length < wanted) {
            length *= 2;
        }
        if (length > ring.length) {
            byte[] kept = read(first, (int) (end - first));
            long start = first;
            ring = new byte[length];
            skipTo(start);
            append(kept, 0, kept.length);
        }
    }
}
