package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.ArrayDeque;
import java.util.Deque;

/// A directory that is being watched. Confined to one reader; [#close] may be called by anybody.
public final class Watch implements AutoCloseable {
    private final Channel channel;
    private final String path;
    private final Deque<FileChange> changes = new ArrayDeque<>();

    Watch(Channel channel, String path) {
        this.channel = channel;
        this.path = path;
    }

    /// Waits for the next change. Throws `NoSuchFile` when the directory itself is gone or the watch was
    /// closed.
    public FileChange next() {
        while (changes.isEmpty()) {
            switch (channel.next()) {
                case Message.Data(int _, byte[] bytes) -> take(bytes);
                case Message.Eof _ -> {}
                case Message.Ended _ -> throw new SandboxException(new Failure.NoSuchFile(path));
            }
        }
        return changes.remove();
    }

    /// Ends the watch. Idempotent.
    @Override
    public void close() {
        channel.close();
    }

    private void take(byte[] bytes) {
        channel.parse(bytes, fields -> {
            while (!fields.isEmpty()) {
                changes.add(FileChange.read(fields));
            }
            return changes;
        });
    }
}
