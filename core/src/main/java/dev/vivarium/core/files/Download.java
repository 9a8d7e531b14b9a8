package dev.vivarium.core.files;

import dev.vivarium.core.Digests;
import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// File that is being read. Confined to one reader thread; any thread may call [#close].
public final class Download implements AutoCloseable {
    private static final int MAX_DATA = 65_536;

    private final Channel channel;
    private final FileEntry entry;
    private final Optional<FileVersion> version;
    private byte[] current = {};
    private int position;

    Download(Channel channel, FileEntry entry, Optional<FileVersion> version) {
        this.channel = channel;
        this.entry = entry;
        this.version = version;
    }

    /// Returns the file's metadata at the time it was opened.
    public FileEntry entry() {
        return entry;
    }

    /// Returns the version at the time the file was opened. Empty if the guest is too old to report it.
    public Optional<FileVersion> version() {
        return version;
    }

    /// Reads at least one byte, or returns -1 at the end.
    public int read(byte[] buffer, int offset, int length) {
        if (position == current.length && !advance()) {
            return -1;
        }
        int count = Math.min(length, current.length - position);
        System.arraycopy(current, position, buffer, offset, count);
        position += count;
        return count;
    }

    /// Copies the remaining bytes without an intermediate buffer. Returns their number.
    public long transferTo(OutputStream output) throws IOException {
        long total = 0;
        do {
            output.write(current, position, current.length - position);
            total += current.length - position;
        } while (advance());
        position = current.length;
        return total;
    }

    /// Copies the remaining bytes, but holds back the last piece until the SHA-256 of all bytes matches. Otherwise
    /// throws `FileChanging`, and a receiver that expects the full length detects that the end is missing.
    public void transferIfItIs(String sha256, OutputStream output) throws IOException {
        MessageDigest digest = Digests.sha256();
        transfer(
                output,
                digest::update,
                () -> HexFormat.of().formatHex(digest.digest()).equals(sha256));
    }

    /// Like [#transferIfItIs], but the condition is that the file was not written to since it was opened.
    public void transferIfSteady(OutputStream output) throws IOException {
        transfer(output, _ -> {}, this::isSteady);
    }

    private void transfer(OutputStream output, Consumer<byte[]> reader, BooleanSupplier intact) throws IOException {
        byte[] held = {};
        while (advance()) {
            reader.accept(current);
            output.write(held);
            held = current;
        }
        position = current.length;
        if (!intact.getAsBoolean()) {
            throw new SandboxException(new Failure.FileChanging(entry.name()));
        }
        output.write(held);
    }

    /// Reports, at the end, whether the file is unchanged since it was opened. Returns true if the guest is too old
    /// to report it.
    private boolean isSteady() {
        return channel.result(fields -> {
            fields.u64();
            if (fields.isEmpty()) {
                return true;
            }
            FileEntry now = EntryCodec.read(fields, entry.name());
            return now.equals(entry) && FileVersion.read(fields, now).equals(version);
        });
    }

    /// Returns the remaining bytes. Throws `FileChanging` if the file was written to since it was opened.
    public byte[] readIfSteady() {
        var bytes = new ByteArrayOutputStream((int) Math.min(entry.size(), MAX_DATA));
        while (advance()) {
            bytes.writeBytes(current);
        }
        position = current.length;
        if (!isSteady()) {
            throw new SandboxException(new Failure.FileChanging(entry.name()));
        }
        return bytes.toByteArray();
    }

    /// Ends the read. Idempotent.
    @Override
    public void close() {
        channel.close();
    }

    /// Takes the next piece. Reports whether there was one.
    private boolean advance() {
        while (true) {
            switch (channel.next()) {
                case Message.Data(int _, byte[] bytes) -> {
                    current = bytes;
                    position = 0;
                    return true;
                }
                case Message.Eof _ -> {}
                case Message.Ended _ -> {
                    return false;
                }
            }
        }
    }
}
