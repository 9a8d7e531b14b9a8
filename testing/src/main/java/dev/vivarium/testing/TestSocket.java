package dev.vivarium.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.client.ClientUpgradeRequest;
import org.eclipse.jetty.websocket.client.WebSocketClient;

/// A WebSocket's other end: whole messages, one after the other, as many as were asked for. Thread-safe.
///
/// It is Jetty's: Java's own client loses what a server says right behind its handshake, a few times in ten thousand.
final class TestSocket implements AutoCloseable {
    private static final WebSocketClient CLIENT = newClient();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int LARGEST = 1 << 24;
    private static final int MOST = 10_000;

    private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private final AtomicLong wanted = new AtomicLong();
    private final Session session;

    /// @param headers names and values, one after the other
    TestSocket(URI address, String... headers) {
        var request = new ClientUpgradeRequest(address);
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        try {
            session = CLIENT.connect(new Ears(), request).join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static WebSocketClient newClient() {
        var threads = new QueuedThreadPool();
        threads.setName("test-socket");
        threads.setDaemon(true);
        var http = new HttpClient();
        http.setExecutor(threads);
        http.setMaxConnectionsPerDestination(MOST);
        var client = new WebSocketClient(http);
        client.setIdleTimeout(Duration.ZERO);
        client.setMaxFrameSize(LARGEST);
        client.setMaxTextMessageSize(LARGEST);
        LifeCycle.start(client);
        return client;
    }

    /// Takes so many more messages as they come.
    void read(long count) {
        long before = wanted.getAndAccumulate(count, TestSocket::sum);
        if (before == 0) {
            session.demand();
        }
    }

    private static long sum(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    void send(String message) {
        var sent = new Callback.Completable();
        session.sendText(message, sent);
        sent.join();
    }

    void send(byte[] message) {
        var sent = new Callback.Completable();
        session.sendBinary(ByteBuffer.wrap(message), sent);
        sent.join();
    }

    /// The next message, the empty one when the server has hung up; none if none comes in time.
    Optional<String> next() {
        try {
            return Optional.ofNullable(messages.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Says goodbye, and leaves it to the server to hang up.
    void leave() {
        session.close();
    }

    /// Waits for the server to hang up; the code it gave.
    int awaitClose() {
        return closed.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    /// Cuts the connection without a word.
    @Override
    public void close() {
        session.disconnect();
    }

    /// What Jetty calls.
    public final class Ears implements Session.Listener {
        private Ears() {}

        /// Without it a first message would be asked for.
        @Override
        public void onWebSocketOpen(Session opened) {}

        @Override
        public void onWebSocketText(String message) {
            messages.add(message);
            if (wanted.decrementAndGet() > 0) {
                session.demand();
            }
        }

        @Override
        public void onWebSocketClose(int code, String reason, Callback callback) {
            callback.succeed();
            closed.complete(code);
            messages.add("");
        }

        @Override
        public void onWebSocketError(Throwable error) {
            closed.completeExceptionally(error);
            messages.add("");
        }
    }
}
