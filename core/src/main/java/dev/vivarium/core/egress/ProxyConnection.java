package dev.vivarium.core.egress;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.HostName;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One proxied connection, from the first byte to the last. Its worker threads serve it; any thread may call [#cut].
final class ProxyConnection {
    /// The current allow-list.
    interface Rule {
        boolean allows(HostName host, int port);
    }

    private final ProgramConnection client;
    private final Rule rule;
    private final long began = System.nanoTime();

    private volatile String method = "";
    private volatile Optional<Destination> destination = Optional.empty();
    private volatile String address = "";
    private volatile EgressRecord.Verdict verdict = EgressRecord.Verdict.MALFORMED;
    private volatile int status;

    @GuardedBy("this")
    private @Nullable Socket upstream;

    @GuardedBy("this")
    private boolean cut;

    ProxyConnection(ProgramConnection client, Rule rule) {
        this.client = client;
        this.rule = rule;
    }

    ProgramConnection client() {
        return client;
    }

    /// Records the destination, and rejects it if it is not on the allow-list. `leaving` is the destination that
    /// the proxy connects to.
    void setDestination(String how, Destination leaving) {
        method = how;
        destination = Optional.of(leaving);
        requireAllowed();
    }

    /// Rejects the destination if the current allow-list does not permit it. The list may have changed since the
    /// last check.
    void requireAllowed() {
        destination.filter(wanted -> !isAllowed(wanted.host(), wanted.port())).ifPresent(wanted -> {
            throw new Rejection(
                    403,
                    EgressRecord.Verdict.HOST_REFUSED,
                    wanted + " is not on the allow-list of this sandbox; its owner can add " + wanted.host()
                            + " with PUT /threads/{thread_id}/egress or viv egress");
        });
    }

    boolean isAllowed(HostName host, int port) {
        return rule.allows(host, port);
    }

    /// Reports whether the current allow-list permits the destination. Returns true while the destination is
    /// unknown.
    boolean isStillAllowed() {
        return destination
                .map(wanted -> isAllowed(wanted.host(), wanted.port()))
                .orElse(true);
    }

    /// Sets the connection to the host. [#cut] closes it too.
    void setHost(Socket socket) throws IOException {
        synchronized (this) {
            upstream = socket;
            if (!cut) {
                address = socket.getInetAddress().getHostAddress();
                return;
            }
        }
        socket.close();
        throw new IOException("it was cut");
    }

    /// Records the response to the program.
    void answered(EgressRecord.Verdict what, int with) {
        if (verdict != EgressRecord.Verdict.CUT && verdict != EgressRecord.Verdict.NAME_REFUSED) {
            verdict = what;
        }
        status = with;
    }

    /// Cuts both directions and records the reason. Idempotent.
    ///
    /// The connection to the host closes at once. The connection to the program closes when its guest accepts
    /// frames, which a frozen guest does not.
    void cut(EgressRecord.Verdict why) {
        synchronized (this) {
            cut = true;
        }
        verdict = why;
        closeHost();
        Thread.ofVirtual().name("egress-cut").start(client::close);
    }

    /// Closes the connection to the host, if any. Idempotent.
    void closeHost() {
        Socket open;
        synchronized (this) {
            open = upstream;
        }
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The socket is closed despite the error.
            }
        }
    }

    /// Waits until `ended` reports that the program closed the connection, or until the connection is idle. Then
    /// closes the connection to the host.
    void lingerUntil(BooleanSupplier ended) {
        do {
            client.setReadTimeout(EgressProxy.IDLE);
        } while (!ended.getAsBoolean() && !client.isIdle(EgressProxy.IDLE));
        closeHost();
    }

    /// Returns the record of this connection, or nothing if the program sent no request.
    Optional<EgressRecord> egressRecord() {
        if (destination.isEmpty() && status == 0) {
            return Optional.empty();
        }
        return Optional.of(new EgressRecord(
                method,
                destination.map(wanted -> wanted.host().text()).orElse(""),
                destination.map(Destination::port).orElse(0),
                address,
                verdict,
                status,
                client.bytesRead(),
                client.bytesWritten(),
                Duration.ofNanos(System.nanoTime() - began)));
    }
}
