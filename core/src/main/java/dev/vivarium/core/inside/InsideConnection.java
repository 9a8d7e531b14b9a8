package dev.vivarium.core.inside;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Optional;

/// One connection that a program in a sandbox made to the server, and which sandbox that is: it is known by the wire it
/// came on, whatever the program says. For one reader and one writer at a time; [#close] may be called by anybody.
public final class InsideConnection implements AutoCloseable {
    private final SandboxId sandbox;
    private final Channel channel;

    InsideConnection(SandboxId sandbox, Channel channel) {
        this.sandbox = sandbox;
        this.channel = channel;
    }

    /// Where it comes from.
    public SandboxId sandbox() {
        return sandbox;
    }

    /// Waits for what the program says next; nothing once it says no more, or is gone. Then it is not asked again.
    public Optional<byte[]> read() {
        try {
            return channel.next() instanceof Message.Data(int _, byte[] bytes) ? Optional.of(bytes) : Optional.empty();
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// Sends bytes and waits while the program does not read. Reports whether it was still there to take them.
    public boolean write(byte[] bytes, int offset, int length) {
        try {
            return channel.write(bytes, offset, length);
        } catch (SandboxException e) {
            return false;
        }
    }

    /// Says that nothing more is written; what was written still arrives. Idempotent.
    public void closeOutput() {
        try {
            channel.closeInput();
        } catch (SandboxException e) {
            // The sandbox is gone, and with it whoever would have heard.
        }
    }

    /// Waits until it has ended both ways; what the program still says is thrown away.
    public void awaitEnd() {
        try {
            while (!(channel.next() instanceof Message.Ended)) {
                // Nobody listens any more.
            }
        } catch (SandboxException e) {
            // It has ended with the stream.
        }
    }

    /// Ends it both ways, whatever is still on its way. Idempotent.
    @Override
    public void close() {
        channel.abandon();
    }
}
