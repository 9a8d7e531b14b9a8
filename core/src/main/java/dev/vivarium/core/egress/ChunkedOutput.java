package dev.vivarium.core.egress;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/// Output stream that sends each write as a chunk of HTTP/1.1. Confined to one thread.
final class ChunkedOutput extends OutputStream {
    private final OutputStream out;

    ChunkedOutput(OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (length > 0) {
            ascii(Integer.toHexString(length) + "\r\n");
            out.write(bytes, offset, length);
            ascii("\r\n");
        }
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    /// Sends the last chunk.
    void finish() throws IOException {
        ascii("0\r\n\r\n");
    }

    private void ascii(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.US_ASCII));
    }
}
