package dev.vivarium.core.guest;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Received messages of a channel that its reader has not taken. Guarded by the lock of its channel.
///
/// Credit bounds the bytes, and this class bounds their cost. It joins small pieces, since a million frames of one byte
/// would need a million arrays. If two streams alternate, their order is kept up to [#MANY] pieces. From then on, a
/// small piece is joined with the last piece of its own stream.
final class ReceiveQueue {
    private static final int SMALL = 4_096;
    private static final int FULL = 65_536;
    private static final int MANY = 1_024;
    private static final int STREAMS = 3;

    private final Deque<Piece> pieces = new ArrayDeque<>();
    private final @Nullable Piece[] last = new @Nullable Piece[STREAMS];

    private static final class Piece {
        private final int stream;
        private byte[] bytes;
        private int length;

        private Piece(int stream, byte[] bytes) {
            this.stream = stream;
            this.bytes = bytes;
            this.length = bytes.length;
        }

        private void append(ByteBuffer data) {
            int total = length + data.remaining();
            if (total > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(total, 2 * bytes.length));
            }
            data.get(bytes, length, data.remaining());
            length = total;
        }

        private Message message() {
            if (length == 0) {
                return new Message.Eof(stream);
            }
            return new Message.Data(stream, length == bytes.length ? bytes : Arrays.copyOf(bytes, length));
        }
    }

    /// Adds the bytes of `data`, at least one; `stream` is 1 or 2.
    void add(int stream, ByteBuffer data) {
        Piece open = joinable(stream, data.remaining());
        if (open != null) {
            open.append(data);
            return;
        }
        var bytes = new byte[data.remaining()];
        data.get(bytes);
        var piece = new Piece(stream, bytes);
        pieces.add(piece);
        last[stream] = piece;
    }

    void addEof(int stream) {
        pieces.add(new Piece(stream, new byte[0]));
        last[stream] = null;
    }

    void clear() {
        pieces.clear();
        Arrays.fill(last, null);
    }

    @Nullable
    Message poll() {
        Piece piece = pieces.poll();
        if (piece == null) {
            return null;
        }
        if (last[piece.stream] == piece) {
            last[piece.stream] = null;
        }
        return piece.message();
    }

    private @Nullable Piece joinable(int stream, int length) {
        Piece candidate = last[stream];
        if (candidate == null || length >= SMALL) {
            return null;
        }
        boolean next = candidate == pieces.peekLast() && candidate.length + length <= FULL;
        return next || pieces.size() >= MANY ? candidate : null;
    }
}
