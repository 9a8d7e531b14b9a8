package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/// Directory that is being watched. Confined to one reader thread; any thread may call [#close].
public final class Watch implements AutoCloseable {
    private final Channel channel;
    private final String path;
    private final Deque<FileChange> changes = new ArrayDeque<>();

    Watch(Channel channel, String path) {
        this.channel = channel;
        this.path = path;
    }

    /// Waits for the next change. Throws `NoSuchFile` if the directory was deleted or the watch was closed.
    public FileChange next() {
        while (changes.isEmpty()) {
            take(channel.next());
        }
        return changes.remove();
    }

    /// Like [#next()], with a timeout. Returns nothing if it expires.
    public Optional<FileChange> next(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (changes.isEmpty()) {
            Optional<Message> message = channel.next(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            if (message.isEmpty()) {
                return Optional.empty();
            }
            take(message.get());
        }
        return Optional.of(changes.remove());
    }

    /// Ends the watch. Idempotent.
    @Override
    public void close() {
        channel.close();
    }

    private void take(Message message) {
        switch (message) {
            case Message.Data(int _, byte[] bytes) -> take(bytes);
            case Message.Eof _ -> {}
            case Message.Ended _ -> throw new SandboxException(new Failure.NoSuchFile(path));
        }
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
