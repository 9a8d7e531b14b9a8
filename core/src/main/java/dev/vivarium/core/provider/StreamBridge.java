package dev.vivarium.core.provider;

import dev.vivarium.core.Undo;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Bridge between a [GuestStream.Bytes] and one end of a socket pair. Thread-safe.
///
/// Its threads are platform threads, so that a busy stream never occupies a carrier of virtual threads. The input
/// thread only shuts down the output of the pair, so bytes that the guest sent before it closed its side still reach
/// the other end. The output thread closes everything when the other end is closed or `out` fails.
final class StreamBridge {
    private static final Logger log = LoggerFactory.getLogger(StreamBridge.class);

    private final GuestStream.Bytes stream;
    private final SocketChannel socket;

    private StreamBridge(GuestStream.Bytes stream, SocketChannel socket) {
        this.stream = stream;
        this.socket = socket;
    }

    /// Opens the listener of a socket pair.
    @FunctionalInterface
    interface ListenerFactory {
        ServerSocketChannel open() throws IOException;
    }

    /// Returns the other end of the socket pair. On failure, closes the stream and both ends.
    static SocketChannel start(GuestStream.Bytes stream) {
        return start(stream, () -> ServerSocketChannel.open(StandardProtocolFamily.UNIX));
    }

    static SocketChannel start(GuestStream.Bytes stream, ListenerFactory listeners) {
        try (var undo = new Undo()) {
            undo.add(stream.in());
            undo.add(stream.out());
            // Only this user can enter the temporary directory, so no other user can connect.
            Path directory = Files.createTempDirectory("viv-stream-");
            Path file = directory.resolve("s");
            try (var listener = listeners.open()) {
                var address = UnixDomainSocketAddress.of(file);
                listener.bind(address);
                SocketChannel end = undo.add(SocketChannel.open(address));
                new StreamBridge(stream, undo.add(listener.accept())).start();
                undo.keep();
                return end;
            } finally {
                Files.deleteIfExists(file);
                Files.delete(directory);
            }
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("connect to the guest", String.valueOf(e)), e);
        }
    }

    private void start() {
        Thread.ofPlatform().daemon().name("guest-stream-in").start(this::copyIn);
        Thread.ofPlatform().daemon().name("guest-stream-out").start(this::copyOut);
    }

    private void copyIn() {
        copy(stream.in(), Channels.newOutputStream(socket));
        try {
            socket.shutdownOutput();
        } catch (IOException e) {
            log.trace("the socket pair of a guest stream is closed already", e);
        }
    }

    private void copyOut() {
        copy(Channels.newInputStream(socket), stream.out());
        close(socket);
        close(stream.in());
        close(stream.out());
    }

    private static void copy(InputStream from, OutputStream to) {
        byte[] buffer = new byte[64 * 1024];
        try {
            for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
                to.write(buffer, 0, count);
                to.flush();
            }
        } catch (IOException e) {
            log.debug("a guest stream ended: {}", e.getMessage());
        }
    }

    private static void close(Closeable resource) {
        try {
            resource.close();
        } catch (IOException e) {
            log.debug("closing a guest stream", e);
        }
    }
}
