package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// Unix socket that accepts exactly one connection of a guest, and is then deleted. The host listens and the guest
/// connects, because a socket inside the tree of a sandbox could be anything. Thread-safe, for one waiting caller at a
/// time.
public final class GuestListener implements AutoCloseable {
    /// Longest path of a unix socket, in bytes.
    public static final int LONGEST_PATH = 107;

    private static final Duration LOOK_AFTER_THE_MACHINE = Duration.ofMillis(50);

    private final SandboxId id;
    private final Path path;
    private final ServerSocketChannel channel;

    private GuestListener(SandboxId id, Path path, ServerSocketChannel channel) {
        this.id = id;
        this.path = path;
        this.channel = channel;
    }

    /// Listens at `path`, which only root and the user `owner` can use. The name appears when the socket is ready,
    /// so that a retrying guest never finds a socket without permission.
    public static GuestListener bind(SandboxId id, Path path, int owner) {
        var unready = path.resolveSibling(path.getFileName() + ".new");
        try {
            Files.deleteIfExists(unready);
            var channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.bind(UnixDomainSocketAddress.of(unready), 1);
                channel.configureBlocking(false);
                Files.setAttribute(unready, "unix:uid", owner, LinkOption.NOFOLLOW_LINKS);
                Files.move(unready, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                return new GuestListener(id, path, channel);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("listen for the guest", String.valueOf(e)), e);
        }
    }

    /// Waits for the connection, checks at intervals that the machine `isAlive`, and closes the listener.
    public SocketChannel accept(Duration timeout, BooleanSupplier isAlive) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try (this;
                var selector = Selector.open()) {
            channel.register(selector, SelectionKey.OP_ACCEPT);
            while (true) {
                var left = Duration.ofNanos(deadline - System.nanoTime());
                var slice = left.compareTo(LOOK_AFTER_THE_MACHINE) < 0 ? left : LOOK_AFTER_THE_MACHINE;
                selector.select(Math.max(1, slice.toMillis()));
                var socket = channel.accept();
                if (socket != null) {
                    return socket;
                }
                requireAlive(left, isAlive);
            }
        } catch (ClosedChannelException e) {
            throw unreachable("the socket was closed");
        } catch (IOException e) {
            // For example, too many open files: a failure of the server, independent of the guest.
            throw new SandboxException(new Failure.ProviderFailed("accept the guest", String.valueOf(e)), e);
        }
    }

    private void requireAlive(Duration left, BooleanSupplier isAlive) {
        if (!isAlive.getAsBoolean()) {
            throw unreachable("its init has ended");
        }
        if (!left.isPositive()) {
            throw unreachable("the guest did not connect in time");
        }
        if (Thread.currentThread().isInterrupted()) {
            throw unreachable("the wait was interrupted");
        }
    }

    private SandboxException unreachable(String why) {
        return new SandboxException(new Failure.GuestUnreachable(id, why));
    }

    @Override
    public void close() {
        try {
            channel.close();
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // The directory is deleted with the machine; a remaining name in it has no listener.
            throw new SandboxException(new Failure.ProviderFailed("close the guest's socket", String.valueOf(e)), e);
        }
    }
}
