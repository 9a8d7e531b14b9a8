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

/// WebSocket client that queues whole messages, as many as the test requests. Thread-safe.
///
/// It uses Jetty's client. A few times in ten thousand, Java's own client loses a message that the server sends
/// directly after the handshake.
final class TestSocket implements AutoCloseable {
    private static final WebSocketClient CLIENT = newClient();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int MAX_MESSAGE_BYTES = 1 << 24;
    private static final int MAX_CONNECTIONS = 10_000;

    private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private final AtomicLong wanted = new AtomicLong();
    private final Session session;

    /// @param headers names and values in alternation
    TestSocket(URI address, String... headers) {
        var request = new ClientUpgradeRequest(address);
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        try {
            session = CLIENT.connect(new Listener(), request).join();
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
        http.setMaxConnectionsPerDestination(MAX_CONNECTIONS);
        var client = new WebSocketClient(http);
        client.setIdleTimeout(Duration.ZERO);
        client.setMaxFrameSize(MAX_MESSAGE_BYTES);
        client.setMaxTextMessageSize(MAX_MESSAGE_BYTES);
        LifeCycle.start(client);
        return client;
    }

    /// Requests `count` more messages.
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

    /// Returns the next message, or an empty text after the server disconnected. Returns nothing after the timeout.
    Optional<String> next() {
        try {
            return Optional.ofNullable(messages.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Sends a close frame and lets the server close the connection.
    void leave() {
        session.close();
    }

    /// Waits until the server closes the socket, and returns the close code.
    int awaitClose() {
        return closed.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
    }

    /// Closes the connection without a close frame.
    @Override
    public void close() {
        session.disconnect();
    }

    /// Listener for Jetty.
    public final class Listener implements Session.Listener {
        private Listener() {}

        /// Overridden, because the default requests a first message.
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
