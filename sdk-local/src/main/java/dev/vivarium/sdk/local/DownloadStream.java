package dev.vivarium.sdk.local;

import dev.vivarium.core.files.Download;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.Objects;

/// Stream of a download. Confined to one thread, except for [#close].
final class DownloadStream extends InputStream {
    private final Download download;

    DownloadStream(Download download) {
        this.download = download;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        try {
            return length == 0 ? 0 : download.read(target, offset, length);
        } catch (SandboxException e) {
            throw failed(e);
        }
    }

    @Override
    public long transferTo(OutputStream out) throws IOException {
        try {
            return download.transferTo(out);
        } catch (SandboxException e) {
            throw failed(e);
        }
    }

    @Override
    public void close() {
        download.close();
    }

    private static IOException failed(SandboxException e) {
        if (Thread.currentThread().isInterrupted()) {
            var interrupted = new InterruptedIOException("interrupted while reading from the sandbox");
            interrupted.initCause(e);
            return interrupted;
        }
        return new IOException(e.getMessage(), e);
    }
}
