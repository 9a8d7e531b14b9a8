package dev.vivarium.core.egress;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/// Connection of a program inside the sandbox. One thread reads and one thread writes.
///
/// If the guest is lost, every method throws [dev.vivarium.model.SandboxException].
final class ProgramConnection {
    private final Channel channel;
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong written = new AtomicLong();
    private final InputStream in = new FromProgram();
    private final OutputStream out = new ToProgram();

    /// Deadline for reading, on the clock of [System#nanoTime].
    private volatile long deadline;

    /// Time of the last traffic in either direction, on the same clock.
    private volatile long lastMoved = System.nanoTime();

    private byte[] current = {};
    private int position;
    private boolean silent;

    ProgramConnection(Channel channel, Duration timeout) {
        this.channel = channel;
        this.deadline = System.nanoTime() + timeout.toNanos();
    }

    /// Sets the read deadline to this duration from now.
    void setReadTimeout(Duration timeout) {
        deadline = System.nanoTime() + timeout.toNanos();
    }

    InputStream in() {
        return in;
    }

    OutputStream out() {
        return out;
    }

    long bytesRead() {
        return read.get();
    }

    long bytesWritten() {
        return written.get();
    }

    /// Sends the rejection as an HTTP response.
    void refuse(Rejection rejection) throws IOException {
        byte[] body = (rejection.sentence() + "\n").getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + rejection.status() + " " + rejection.reason() + "\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: " + body.length + "\r\n"
                + "Connection: close\r\n\r\n";
        out.write((head + new String(body, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8));
    }

    /// Closes the output. Bytes written before still arrive.
    void finish() {
        channel.closeInput();
    }

    /// Waits until the program has read everything and closed the connection. Returns false at the read deadline.
    boolean awaitEnd() {
        while (true) {
            long left = deadline - System.nanoTime();
            var message = channel.next(Duration.ofNanos(Math.max(0, left)));
            if (message.isEmpty() || message.get() instanceof Message.Ended) {
                return message.isPresent();
            }
        }
    }

    /// Waits until the program closes its side, and discards its input. Returns false at the read deadline.
    boolean awaitEndOfInput() {
        while (!silent) {
            long left = deadline - System.nanoTime();
            var message = channel.next(Duration.ofNanos(Math.max(0, left)));
            if (message.isEmpty()) {
                return false;
            }
            silent = !(message.get() instanceof Message.Data);
        }
        return true;
    }

    /// Reports whether the connection had no traffic in either direction for this duration.
    boolean isIdle(Duration timeout) {
        return System.nanoTime() - lastMoved >= timeout.toNanos();
    }

    /// Closes both directions and drops bytes in transit. Idempotent and thread-safe.
    void close() {
        channel.abandon();
    }

    private final class FromProgram extends InputStream {
        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            while (position == current.length) {
                if (silent || !advance()) {
                    return -1;
                }
            }
            int count = Math.min(length, current.length - position);
            System.arraycopy(current, position, bytes, offset, count);
            position += count;
            return count;
        }

        private boolean advance() throws IOException {
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            Message message = channel.next(left).orElseThrow(() -> new InterruptedIOException("the program is silent"));
            if (!(message instanceof Message.Data(int _, byte[] bytes))) {
                silent = true;
                return false;
            }
            current = bytes;
            position = 0;
            read.addAndGet(bytes.length);
            lastMoved = System.nanoTime();
            return true;
        }
    }

    private final class ToProgram extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (!channel.write(bytes, offset, length)) {
                throw new IOException("the program has hung up");
            }
            written.addAndGet(length);
            lastMoved = System.nanoTime();
        }
    }
}
