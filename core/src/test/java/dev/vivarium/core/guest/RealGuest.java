package dev.vivarium.core.guest;

import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;

/// Real guest program on this machine, without isolation, with its own workspace.
public final class RealGuest implements AutoCloseable {
    private static final String SECRET = "0123456789abcdef";

    /// Longer than the slowest machine needs. No test here measures the speed of a guest.
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final Path home;
    private final ServerSocketChannel listener;
    private final Process process;
    private final GuestLoop loop = GuestLoop.start();
    private final SandboxId id = SandboxId.random(new SecureRandom());
    private Guest guest;

    private RealGuest(Path home, ServerSocketChannel listener, Process process) {
        this.home = home;
        this.listener = listener;
        this.process = process;
    }

    public static RealGuest start() {
        try {
            Path home = Files.createTempDirectory("viv-wire");
            Path socket = home.resolve("s");
            Files.createDirectory(home.resolve("workspace"));
            var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            listener.bind(UnixDomainSocketAddress.of(socket));
            var builder = new ProcessBuilder(
                    binary().toString(),
                    "init",
                    "--plain",
                    "--no-seccomp",
                    "--socket",
                    socket.toString(),
                    "--workspace",
                    home.resolve("workspace").toString());
            builder.environment().clear();
            builder.environment().put("VIV_SECRET", SECRET);
            builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT);
            var real = new RealGuest(home, listener, builder.start());
            real.guest = real.accept();
            return real;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Path binary() {
        Path path = Path.of(System.getProperty("vivarium.guest", "../guest/target/release/vivarium-guest"));
        if (!Files.isExecutable(path)) {
            throw new IllegalStateException("build the guest first: " + path.toAbsolutePath() + " is missing");
        }
        return path.toAbsolutePath();
    }

    public Guest guest() {
        return guest;
    }

    public GuestLoop loop() {
        return loop;
    }

    public Path workspace() {
        return home.resolve("workspace");
    }

    public Process process() {
        return process;
    }

    /// Waits for the next connection of the guest and completes the handshake.
    public Guest accept() {
        try {
            SocketChannel socket = listener.accept();
            guest = Guest.handshake(loop.attach(id, socket), SECRET, TIMEOUT);
            return guest;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Accepts a connection to send the shutdown, which also ends the processes of the guest. A guest that was
    /// killed counts as alive for a moment, and does not connect.
    private void reconnect() {
        var _ = process.onExit().thenRun(this::closeListener);
        try {
            accept();
        } catch (UncheckedIOException e) {
            if (listener.isOpen()) {
                throw e;
            }
        }
    }

    private void closeListener() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            if (!guest.isOpen() && process.isAlive()) {
                reconnect();
            }
            if (guest.isOpen()) {
                guest.shutdown();
            }
            if (!process.waitFor(TIMEOUT)) {
                process.destroyForcibly().waitFor();
            }
            loop.close();
            listener.close();
            try (Stream<Path> files = Files.walk(home)) {
                files.sorted(Comparator.reverseOrder())
                        .forEach(path -> path.toFile().delete());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
