package dev.vivarium.core.egress;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.HostName;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One connection on its way out, from the first byte to the last. Served by workers of its own; [#cut] may be called
/// by anybody.
final class ProxyConnection {
    /// What is allowed at this moment.
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

    /// Notes what is wanted, and refuses it if it is not on the list. `leaving` is where it really goes.
    void want(String how, Destination leaving) {
        method = how;
        destination = Optional.of(leaving);
        requireAllowed();
    }

    /// The list may have changed since the last look.
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

    /// Reports whether it goes somewhere that is allowed now, as far as it is known where it goes.
    boolean isStillAllowed() {
        return destination
                .map(wanted -> isAllowed(wanted.host(), wanted.port()))
                .orElse(true);
    }

    /// Takes the connection that was made for it; whoever cuts it closes that too.
    void leaveBy(Socket socket) throws IOException {
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

    /// Notes what the program is answered.
    void answered(EgressRecord.Verdict what, int with) {
        if (verdict != EgressRecord.Verdict.CUT && verdict != EgressRecord.Verdict.NAME_REFUSED) {
            verdict = what;
        }
        status = with;
    }

    /// Ends it both ways for that reason: towards the host at once, towards the program as soon as its guest takes
    /// frames, which a frozen one does not. Idempotent.
    void cut(EgressRecord.Verdict why) {
        synchronized (this) {
            cut = true;
        }
        verdict = why;
        hangUp();
        Thread.ofVirtual().name("egress-cut").start(client::close);
    }

    /// Closes the connection to the host, if there is one. Idempotent.
    void hangUp() {
        Socket open;
        synchronized (this) {
            open = upstream;
        }
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // It is closed all the same.
            }
        }
    }

    /// Waits until the program hangs up, as `ended` reports, or nothing moves either way any more. Then closes the
    /// connection to the host.
    void lingerUntil(BooleanSupplier ended) {
        do {
            client.bear(EgressProxy.IDLE);
        } while (!ended.getAsBoolean() && !client.isIdle(EgressProxy.IDLE));
        hangUp();
    }

    /// What there is to tell of it; nothing if the program asked for nothing.
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
