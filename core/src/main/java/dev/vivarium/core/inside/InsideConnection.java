package dev.vivarium.core.inside;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Message;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Optional;

/// Connection of a program in a sandbox to the server. One thread reads and one thread writes; any thread may call
/// [#close].
///
/// The channel identifies the sandbox. Data from the program cannot change this identity.
public final class InsideConnection implements AutoCloseable {
    private final SandboxId sandbox;
    private final Channel channel;

    InsideConnection(SandboxId sandbox, Channel channel) {
        this.sandbox = sandbox;
        this.channel = channel;
    }

    public SandboxId sandbox() {
        return sandbox;
    }

    /// Waits for the next bytes of the program. Returns nothing when the program has closed its output or ended.
    /// The caller must not read again after that.
    public Optional<byte[]> read() {
        try {
            return channel.next() instanceof Message.Data(int _, byte[] bytes) ? Optional.of(bytes) : Optional.empty();
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// Sends bytes and blocks while the program does not read. Returns false if the program has closed the
    /// connection.
    public boolean write(byte[] bytes, int offset, int length) {
        try {
            return channel.write(bytes, offset, length);
        } catch (SandboxException e) {
            return false;
        }
    }

    /// Closes the output. Bytes written before still arrive. Idempotent.
    public void closeOutput() {
        try {
            channel.closeInput();
        } catch (SandboxException e) {
            // The sandbox ended, so there is no receiver.
        }
    }

    /// Waits until both directions have ended. Discards the input.
    public void awaitEnd() {
        try {
            while (!(channel.next() instanceof Message.Ended)) {
                // Discards the input.
            }
        } catch (SandboxException e) {
            // The connection ended with the channel.
        }
    }

    /// Closes both directions and drops bytes in transit. Idempotent.
    @Override
    public void close() {
        channel.abandon();
    }
}
