package dev.vivarium.core.files;

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

/// A file that is being read. Confined to one reader; [#close] may be called by anybody.
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

    /// The file as it was when it was opened.
    public FileEntry entry() {
        return entry;
    }

    /// The version of the file when it was opened; an older guest does not know.
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

    /// Copies everything that is left, without a buffer between. Returns how many bytes that was.
    public long transferTo(OutputStream output) throws IOException {
        long total = 0;
        do {
            output.write(current, position, current.length - position);
            total += current.length - position;
        } while (advance());
        position = current.length;
        return total;
    }

    /// Copies everything that is left, but the last piece only if all of it together is the content with this
    /// SHA-256; otherwise throws `FileChanging`, and whoever knows how long the file is sees that its end is
    /// missing.
    public void transferIfItIs(String sha256, OutputStream output) throws IOException {
        MessageDigest digest = Digests.sha256();
        transfer(
                output,
                digest::update,
                () -> HexFormat.of().formatHex(digest.digest()).equals(sha256));
    }

    /// The same, but the last piece only if nobody wrote to the file since it was opened.
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

    /// Reports, at the end, whether the file is as it was when it was opened. An older guest does not know.
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

    /// Everything that is left, if nobody wrote to the file since it was opened.
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

    /// Ends the reading. Idempotent.
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
