package dev.vivarium.server.http;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Callback;

/// Notices that the caller of a request hangs up while the request is served, even if nothing is sent to the caller.
/// Thread-safe.
///
/// Jetty reads nothing from a connection while it serves a request that has arrived, so it does not see the end of the
/// connection. The watch is called when the socket is readable, and looks whether bytes are there: a readable socket
/// without bytes has ended. The watch takes no bytes: they belong to the next request, and end the watch. A caller that
/// closes only its sending side counts as gone.
public final class HangUpWatch implements AutoCloseable {
    private static final Exception CLOSED = new IOException("the watch was closed");

    private final Optional<SocketChannelEndPoint> caller;
    private final Runnable action;
    private final AtomicBoolean over = new AtomicBoolean();

    private HangUpWatch(Optional<SocketChannelEndPoint> caller, Runnable action) {
        this.caller = caller;
        this.action = action;
    }

    /// Runs `action` once, on a virtual thread, if the caller of `request` hangs up. The request must have arrived
    /// to its end. Close the watch before the request is completed: the connection is not read meanwhile.
    public static HangUpWatch start(Request request, Runnable action) {
        var endPoint = request.getConnectionMetaData().getConnection().getEndPoint();
        var socket = endPoint instanceof SocketChannelEndPoint known
                ? Optional.of(known)
                : Optional.<SocketChannelEndPoint>empty();
        var watch = new HangUpWatch(socket, action);
        socket.ifPresent(known -> known.tryFillInterested(watch.new Readable()));
        return watch;
    }

    /// Called by Jetty on a thread that must not wait.
    private final class Readable implements Callback {
        @Override
        public void succeeded() {
            caller.filter(HangUpWatch::hasEnded).ifPresent(_ -> hangUp());
        }

        @Override
        public void failed(Throwable why) {
            caller.filter(socket -> !socket.isOpen()).ifPresent(_ -> hangUp());
        }

        @Override
        public InvocationType getInvocationType() {
            return InvocationType.NON_BLOCKING;
        }
    }

    private void hangUp() {
        if (over.compareAndSet(false, true)) {
            Thread.ofVirtual().name("hang-up").start(action);
        }
    }

    private static boolean hasEnded(SocketChannelEndPoint socket) {
        try {
            return socket.getChannel().socket().getInputStream().available() == 0;
        } catch (IOException e) {
            return true;
        }
    }

    /// Ends the watch. Idempotent.
    @Override
    public void close() {
        over.set(true);
        caller.ifPresent(socket -> socket.getFillInterest().onFail(CLOSED));
    }
}
