package dev.vivarium.cli.tty;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/// WebSocket connection to a shell, with JSON messages. It delivers one message at a time, so a slow terminal slows the
/// shell. Thread-safe.
final class Socket implements AutoCloseable, WebSocket.Listener {
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final int ABNORMAL = 1006;

    private final Listener listener;
    private final StringBuilder text = new StringBuilder();
    private final ReentrantLock sending = new ReentrantLock();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile WebSocket socket;
    private volatile long heardAt = System.nanoTime();

    /// Listener for messages.
    interface Listener {
        void received(JsonFields message);

        /// Called once, after the last message. `code` is that of the server, or 1006 without one.
        void closed(int code, String reason);
    }

    private Socket(HttpClient client, URI address, Listener listener) {
        this.listener = listener;
        this.socket = client.newWebSocketBuilder()
                .connectTimeout(CONNECT)
                .buildAsync(address, this)
                .join();
    }

    /// Connects, or throws a `CompletionException`.
    static Socket open(HttpClient client, URI address, Listener listener) {
        return new Socket(client, address, listener);
    }

    void send(Consumer<JsonGenerator> fields) {
        String message = new String(Json.bytes(fields), StandardCharsets.UTF_8);
        sending.lock();
        try {
            socket.sendText(message, true).join();
        } catch (CompletionException | IllegalStateException e) {
            finish(ABNORMAL, String.valueOf(e.getMessage()));
        } finally {
            sending.unlock();
        }
    }

    /// Returns the time since the last message of the server.
    Duration silence() {
        return Duration.ofNanos(System.nanoTime() - heardAt);
    }

    /// Drops the connection without a close frame.
    void abort(String why) {
        socket.abort();
        finish(ABNORMAL, why);
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence piece, boolean last) {
        heardAt = System.nanoTime();
        text.append(piece);
        if (last) {
            String whole = text.toString();
            text.setLength(0);
            try {
                listener.received(Json.answer(whole));
            } catch (SandboxException _) {
                // Unknown message of a newer server.
            }
        }
        from.request(1);
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onPing(WebSocket from, ByteBuffer message) {
        heardAt = System.nanoTime();
        from.request(1);
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        finish(code, reason);
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
        finish(ABNORMAL, String.valueOf(error.getMessage()));
    }

    private void finish(int code, String reason) {
        if (over.compareAndSet(false, true)) {
            listener.closed(code, reason);
        }
    }

    /// Closes the connection. No message follows. Idempotent.
    @Override
    public void close() {
        over.set(true);
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "")
                .orTimeout(1, TimeUnit.SECONDS)
                .exceptionally(_ -> socket)
                .join();
        socket.abort();
    }
}
