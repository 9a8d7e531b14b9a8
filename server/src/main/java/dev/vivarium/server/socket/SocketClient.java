package dev.vivarium.server.socket;

import dev.vivarium.model.Failure;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;

/// The other end of a socket: what is sent to it, when it was last heard, and how it is hung up on. Thread-safe.
final class SocketClient {
    private static final long MAX_FIRST_MESSAGE = 16 * 1024;
    private static final long MAX_MESSAGE = 512 * 1024;

    /// Held while a message is being written: another may not come between its frames.
    private final ReentrantLock sending = new ReentrantLock();

    private final long openedAt = System.nanoTime();
    private volatile Optional<Session> session = Optional.empty();
    private final Callback.Completable farewell = new Callback.Completable();
    private volatile long heardAt = openedAt;
    private volatile boolean spoken;

    /// It is there; it may not say much yet.
    void opened(Session open) {
        open.setMaxTextMessageSize(MAX_FIRST_MESSAGE);
        open.setMaxBinaryMessageSize(MAX_FIRST_MESSAGE);
        session = Optional.of(open);
    }

    /// It was let in.
    void trust() {
        session.ifPresent(open -> open.setMaxTextMessageSize(MAX_MESSAGE));
    }

    void heard() {
        heardAt = System.nanoTime();
    }

    /// It has said something, whatever it was.
    void spoke() {
        heard();
        spoken = true;
    }

    /// Reports whether it has not said anything yet.
    boolean isSilent() {
        return !spoken;
    }

    /// When it came, by the nano clock.
    long openedAt() {
        return openedAt;
    }

    /// When something last came from it, by the nano clock.
    long heardAt() {
        return heardAt;
    }

    /// Takes its next message.
    void demand() {
        session.filter(Session::isOpen).ifPresent(Session::demand);
    }

    void ping() {
        session.filter(Session::isOpen).ifPresent(open -> open.sendPing(ByteBuffer.allocate(0), Callback.NOOP));
    }

    void complain(Failure failure) {
        send(SocketMessages.error(failure));
    }

    /// Writes one message and waits until it is gone. Throws `CompletionException` when the socket is.
    void send(String message) throws CompletionException {
        var sent = new Callback.Completable();
        sending.lock();
        try {
            session.orElseThrow().sendText(message, sent);
            sent.join();
        } finally {
            sending.unlock();
        }
    }

    /// Says why and does not wait for an answer.
    void hangUp(CloseReason why) {
        session.ifPresentOrElse(open -> open.close(why.code(), why.reason(), farewell), () -> farewell.complete(null));
    }

    /// Waits until the farewell is on its way, or cannot be sent, or the time is over.
    void awaitFarewell(Duration patience) {
        try {
            farewell.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // It hears nothing any more.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Cuts the connection, if it is still there.
    void cut() {
        session.ifPresent(Session::disconnect);
    }
}
