package dev.vivarium.core.egress;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Where all sandboxes leave the house: an HTTP proxy with a list. Thread-safe.
///
/// # Design note
///
/// The guest only carries bytes, so that nothing inside a sandbox decides anything. A program connects to a port on its
/// own loopback; the connection arrives here as a channel ([SandboxEgress]) and is served by a worker of its own:
///
/// 1. **Read** one request, by a reader that takes nothing it could misunderstand ([HttpReader], [RequestHead]).
/// 2. **Check the name** against the sandbox's list ([ProxyConnection#want]), before anything is asked of anybody: a
/// name that
/// is
///    not on the list is never resolved, because a question to a name server is a message to whoever owns the name.
/// 3. **Resolve**, check each address, connect to one that was checked ([OutboundConnector]). A name that leads
/// elsewhere the
/// next
///    time it is asked for is of no use, since it is asked for once.
/// 4. `CONNECT` becomes a [Tunnel]; it stays on the name it was opened for, as far as TLS says it in the clear.
/// Anything
///    else becomes one request of ours and one answer ([HttpForwarder]): nothing the program wrote is passed on by the
/// byte
///    but the body, whose length we know, and no connection is used twice, so that no two readers can disagree on
///    where a request ends.
///
/// A credential is added in step 4 to requests that came in the clear, and these leave by TLS. The secret is on the
/// host's side of the wire only.
public final class EgressProxy implements AutoCloseable {
    /// How long a connection may be silent both ways.
    static final Duration IDLE = Duration.ofMinutes(5);

    private static final Duration FIRST_LINES = Duration.ofSeconds(30);
    private static final Duration GOODBYE = Duration.ofSeconds(10);

    private final EgressConfig config;
    private final OutboundConnector connector;

    public EgressProxy(EgressConfig config) {
        this.config = config;
        this.connector = new OutboundConnector(config);
    }

    public EgressConfig config() {
        return config;
    }

    static Duration patience() {
        return FIRST_LINES;
    }

    /// Serves one connection to its end.
    void carry(ProxyConnection proxyConnection) {
        try {
            var source = new HttpReader(proxyConnection.client().in());
            Optional<List<String>> lines = head(source);
            if (lines.isPresent()) {
                serve(proxyConnection, RequestHead.of(lines.get()), source);
            }
        } catch (Rejection e) {
            refuse(proxyConnection, e);
        } catch (IOException | SandboxException e) {
            // The program has hung up, or its sandbox is gone.
        } finally {
            proxyConnection.hangUp();
        }
    }

    private static Optional<List<String>> head(HttpReader source) throws IOException {
        try {
            return source.head();
        } catch (IllegalArgumentException e) {
            throw Rejection.malformed(String.valueOf(e.getMessage()));
        } catch (InterruptedIOException e) {
            throw Rejection.malformed("the request did not come within " + FIRST_LINES.toSeconds() + " s");
        }
    }

    private void serve(ProxyConnection proxyConnection, RequestHead head, HttpReader source) throws IOException {
        Destination asked = head.destination();
        if (head.isTunnel()) {
            Socket socket = leave(proxyConnection, head.method(), asked);
            new Tunnel(proxyConnection, source, socket, asked).run();
            return;
        }
        if (head.method().equals("TRACE")) {
            throw Rejection.malformed("TRACE is not passed on: it would show what was added to the request");
        }
        BodyFraming body = head.body();
        List<Credential> credentials = config.credentials().stream()
                .filter(credential -> credential.isFor(asked))
                .toList();
        Destination leaving =
                credentials.isEmpty() ? asked : asked.at(credentials.getFirst().port());
        Socket socket = leave(proxyConnection, head.method(), leaving);
        if (!credentials.isEmpty()) {
            socket = secure(socket, leaving);
        }
        new HttpForwarder(proxyConnection, new HttpForwarder.Order(head, body, leaving, credentials), source, socket)
                .run();
    }

    /// A connection to where it wants to go. The list is asked before and after: it may have changed meanwhile.
    private Socket leave(ProxyConnection proxyConnection, String method, Destination to) throws IOException {
        proxyConnection.want(method, to);
        Socket socket = connector.connect(to);
        proxyConnection.leaveBy(socket);
        proxyConnection.requireAllowed();
        socket.setSoTimeout((int) IDLE.toMillis());
        return socket;
    }

    private Socket secure(Socket plain, Destination to) throws IOException {
        try {
            // The transit keeps the plain socket: closing one with TLS waits for a write that the host does not take.
            Socket secured = connector.secure(plain, to);
            secured.setSoTimeout((int) IDLE.toMillis());
            return secured;
        } catch (IOException e) {
            throw Rejection.badAnswer("TLS with " + to + " failed: " + e.getMessage());
        }
    }

    /// The program must be able to read why, whatever it was about to say; so what it says is thrown away for a
    /// while.
    private static void refuse(ProxyConnection proxyConnection, Rejection rejection) {
        proxyConnection.answered(rejection.verdict(), rejection.status());
        try {
            proxyConnection.client().refuse(rejection);
            proxyConnection.client().finish();
            proxyConnection.client().bear(GOODBYE);
            proxyConnection.client().awaitEnd();
        } catch (IOException | SandboxException e) {
            // It did not wait for the answer.
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Resolves no more names. Connections end with their sandboxes' streams. Idempotent.
    @Override
    public void close() {
        connector.close();
    }
}
