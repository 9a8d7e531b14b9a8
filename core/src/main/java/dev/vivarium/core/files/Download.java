package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import dev.vivarium.model.FileEntry;
import java.io.IOException;
import java.io.OutputStream;

/// A file that is being read. Confined to one reader; [#close] may be called by anybody.
public final class Download implements AutoCloseable {
    private final Channel channel;
    private final FileEntry entry;
    private byte[] current = {};
    private int position;

    Download(Channel channel, FileEntry entry) {
        this.channel = channel;
        this.entry = entry;
    }

    /// The file as it was when it was opened.
    public FileEntry entry() {
        return entry;
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
