package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class ReceiveQueueTest {
    private final ReceiveQueue queue = new ReceiveQueue();

    @Test
    void emptyQueueReturnsNull() {
        assertThat(queue.poll()).isNull();
    }

    @Test
    void singleBytesAreMergedIntoAFewPieces() {
        for (int i = 0; i < 1_000_000; i++) {
            add(1, (byte) i);
        }
        assertThat(drain(1, 1_000_000)).isLessThan(20);
    }

    @Test
    void alternatingStreamsStayInOrder() {
        add(1, (byte) 'a');
        add(2, (byte) 'b');
        add(1, (byte) 'c');
        assertThat(streamOfNext()).isEqualTo(1);
        assertThat(streamOfNext()).isEqualTo(2);
        assertThat(streamOfNext()).isEqualTo(1);
    }

    @Test
    void alternatingStreamsUseALimitedNumberOfPieces() {
        for (int i = 0; i < 500_000; i++) {
            add(1, (byte) i);
            add(2, (byte) i);
        }
        int pieces = 0;
        int bytes = 0;
        while (queue.poll() instanceof Message.Data(int _, byte[] piece)) {
            pieces++;
            bytes += piece.length;
        }
        assertThat(bytes).isEqualTo(1_000_000);
        assertThat(pieces).isLessThanOrEqualTo(1_100);
    }

    @Test
    void returnedPieceIsNotExtended() {
        add(1, (byte) 1);
        var first = (Message.Data) queue.poll();
        add(1, (byte) 2);
        assertThat(first.bytes()).containsExactly(1);
        assertThat(((Message.Data) queue.poll()).bytes()).containsExactly(2);
    }

    @Test
    void eofFollowsTheBytesOfItsStream() {
        add(2, (byte) 1);
        queue.addEof(2);
        assertThat(queue.poll()).isInstanceOf(Message.Data.class);
        assertThat(queue.poll()).isEqualTo(new Message.Eof(2));
    }

    private void add(int stream, byte value) {
        queue.add(stream, ByteBuffer.wrap(new byte[] {value}));
    }

    private int streamOfNext() {
        return ((Message.Data) queue.poll()).stream();
    }

    private int drain(int stream, int expected) {
        var all = new ByteArrayOutputStream();
        int pieces = 0;
        while (queue.poll() instanceof Message.Data(int from, byte[] bytes)) {
            assertThat(from).isEqualTo(stream);
            all.writeBytes(bytes);
            pieces++;
        }
        assertThat(all.size()).isEqualTo(expected);
        byte[] joined = all.toByteArray();
        for (int i = 0; i < expected; i++) {
            if (joined[i] != (byte) i) {
                throw new AssertionError("byte " + i + " is out of place");
            }
        }
        return pieces;
    }
}
