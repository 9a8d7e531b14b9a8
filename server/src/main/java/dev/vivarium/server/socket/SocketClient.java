package dev.vivarium.server.socket;

import dev.vivarium.model.Failure;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.common.WebSocketSession;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.OpCode;

/// Client side of a socket: sends messages to the client and closes the connection. Thread-safe.
final class SocketClient {
    private static final long MAX_FIRST_MESSAGE = 16 * 1024;
    private static final long MAX_MESSAGE = 512 * 1024;

    /// Maximum number of bytes that Jetty collects from several messages before it writes them.
    private static final int OUTPUT_BUFFER_BYTES = 32 * 1024;

    /// Held while a message is written, so that the frames of two messages do not mix.
    private final ReentrantLock sending = new ReentrantLock();

    private final long openedAt = System.nanoTime();
    private volatile Optional<Session> session = Optional.empty();
    private final Callback.Completable closeWritten = new Callback.Completable();
    private volatile long receivedAt = openedAt;
    private volatile boolean hasReceivedMessage;

    /// Limits messages to a small size until [#authenticated].
    void opened(Session open) {
        open.setMaxTextMessageSize(MAX_FIRST_MESSAGE);
        open.setMaxBinaryMessageSize(MAX_FIRST_MESSAGE);
        open.setOutputBufferSize(OUTPUT_BUFFER_BYTES);
        session = Optional.of(open);
    }

    /// Allows larger messages after the authentication.
    void authenticated() {
        session.ifPresent(open -> open.setMaxTextMessageSize(MAX_MESSAGE));
    }

    void received() {
        receivedAt = System.nanoTime();
    }

    /// Records that the client sent a message.
    void messageReceived() {
        received();
        hasReceivedMessage = true;
    }

    /// Reports whether the client has sent no message yet.
    boolean isSilent() {
        return !hasReceivedMessage;
    }

    /// Returns the `nanoTime` of the connection.
    long openedAt() {
        return openedAt;
    }

    /// Returns the `nanoTime` of the last message or pong.
    long receivedAt() {
        return receivedAt;
    }

    /// Requests the next message.
    void demand() {
        session.filter(Session::isOpen).ifPresent(Session::demand);
    }

    void ping() {
        session.filter(Session::isOpen).ifPresent(open -> open.sendPing(ByteBuffer.allocate(0), Callback.NOOP));
    }

    void sendError(Failure failure) {
        send(SocketMessages.error(failure));
    }

    /// Sends a message and waits until it is written. Throws `CompletionException` if the socket is closed.
    void send(String message) throws CompletionException {
        send(List.of(message));
    }

    /// Sends messages and waits until all are written. Throws `CompletionException` if the socket is closed.
    ///
    /// Jetty writes the messages together, because a system call for each message costs more than its text.
    void send(List<String> messages) throws CompletionException {
        if (messages.isEmpty()) {
            return;
        }
        var written = new org.eclipse.jetty.util.Callback.Completable();
        sending.lock();
        try {
            CoreSession open = ((WebSocketSession) session.orElseThrow()).getCoreSession();
            for (String message : messages.subList(0, messages.size() - 1)) {
                open.sendFrame(new Frame(OpCode.TEXT, message), org.eclipse.jetty.util.Callback.NOOP, true);
            }
            open.sendFrame(new Frame(OpCode.TEXT, messages.getLast()), written, false);
            written.join();
        } finally {
            sending.unlock();
        }
    }

    /// Sends a close with the reason. Does not wait for the answer.
    void sendClose(CloseReason why) {
        session.ifPresentOrElse(
                open -> open.close(why.code(), why.reason(), closeWritten), () -> closeWritten.complete(null));
    }

    /// Waits until the close is written or has failed, at most `timeout`.
    void awaitClose(Duration timeout) {
        try {
            closeWritten.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The client does not read any more.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Disconnects without a close handshake. Idempotent.
    void disconnect() {
        session.ifPresent(Session::disconnect);
    }
}
