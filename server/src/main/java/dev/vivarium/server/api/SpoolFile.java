package dev.vivarium.server.api;

import dev.vivarium.core.files.Upload;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/// Temporary file for data that the server cannot forward yet. Confined to one worker.
///
/// The file has no name, so the system frees its space even if the server is killed.
final class SpoolFile implements AutoCloseable {
    private static final int PIECE = 256 * 1024;

    private final FileChannel channel;
    private final long maxBytes;
    private long bytes;

    private SpoolFile(FileChannel channel, long maxBytes) {
        this.channel = channel;
        this.maxBytes = maxBytes;
    }

    static SpoolFile in(Path directory, long maxBytes) {
        var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try {
            Files.createDirectories(directory);
            Path file = Files.createTempFile(directory, "spool-", ".part", ours);
            try {
                return new SpoolFile(
                        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE), maxBytes);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("making a spool file", e);
        }
    }

    void write(byte[] from, int offset, int length) {
        if (bytes + length > maxBytes) {
            throw new SandboxException(new Failure.FileTooLarge(maxBytes, bytes + length));
        }
        try {
            var buffer = ByteBuffer.wrap(from, offset, length);
            while (buffer.hasRemaining()) {
                bytes += channel.write(buffer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("writing a spool file", e);
        }
    }

    void copyTo(Upload upload) throws IOException {
        var buffer = ByteBuffer.allocate(PIECE);
        channel.position(0);
        while (channel.read(buffer) >= 0) {
            upload.write(buffer.array(), 0, buffer.position());
            buffer.clear();
        }
    }

    /// Returns the whole content, from the beginning.
    InputStream read() {
        try {
            return Channels.newInputStream(channel.position(0));
        } catch (IOException e) {
            throw new UncheckedIOException("reading what was spooled", e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
