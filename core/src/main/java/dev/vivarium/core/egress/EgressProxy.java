package dev.vivarium.core.egress;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// HTTP proxy that applies the egress allow-lists of all sandboxes. Thread-safe.
///
/// # Design note
///
/// The guest only forwards bytes, so that no code inside a sandbox makes a decision. A program connects to a port on
/// its own loopback interface. The connection arrives here as a channel ([SandboxEgress]), and a worker thread of its
/// own serves it:
///
/// 1. **Read** one request with a strict parser that rejects ambiguous input ([HttpReader], [RequestHead]).
/// 2. **Check the name** against the allow-list of the sandbox ([ProxyConnection#setDestination]) before any other
/// step.
///    The proxy never resolves a name that is not on the list, because a DNS query sends data to the owner of the name.
/// 3. **Resolve** the name once, check each address, and connect to a checked address ([OutboundConnector]). DNS
///    rebinding has no effect, because the proxy does not resolve the name again.
/// 4. **Forward.** A `CONNECT` becomes a [Tunnel]. The tunnel is bound to the name it was opened for, as far as TLS
///    shows the name in clear text. Any other request becomes one new request and one response ([HttpForwarder]). The
///    proxy copies only the body, whose framing it has parsed, and writes everything else itself. The proxy never
/// reuses
///    a connection, so that no two parsers can disagree on where a request ends.
///
/// In step 4 the proxy adds a credential to plain-text requests, and sends these over TLS. The secret exists only on
/// the server's side of the channel.
public final class EgressProxy implements AutoCloseable {
    /// Time without traffic in either direction after which the proxy closes a connection.
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

    static Duration timeout() {
        return FIRST_LINES;
    }

    /// Serves one connection until it ends.
    void serve(ProxyConnection proxyConnection) {
        try {
            var source = new HttpReader(proxyConnection.client().in());
            Optional<List<String>> lines = head(source);
            if (lines.isPresent()) {
                serve(proxyConnection, RequestHead.of(lines.get()), source);
            }
        } catch (Rejection e) {
            refuse(proxyConnection, e);
        } catch (IOException | SandboxException e) {
            // The program closed the connection, or its sandbox ended.
        } finally {
            proxyConnection.closeHost();
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

    /// Opens a connection to the destination. Checks the allow-list before and after, because it may change
    /// meanwhile.
    private Socket leave(ProxyConnection proxyConnection, String method, Destination to) throws IOException {
        proxyConnection.setDestination(method, to);
        Socket socket = connector.connect(to);
        proxyConnection.setHost(socket);
        proxyConnection.requireAllowed();
        socket.setSoTimeout((int) IDLE.toMillis());
        return socket;
    }

    private Socket secure(Socket plain, Destination to) throws IOException {
        try {
            // The connection keeps the plain socket: closing the TLS socket would block on a write that the host does
            // not read.
            Socket secured = connector.secure(plain, to);
            secured.setSoTimeout((int) IDLE.toMillis());
            return secured;
        } catch (IOException e) {
            throw Rejection.badAnswer("TLS with " + to + " failed: " + e.getMessage());
        }
    }

    /// Sends the rejection, then discards the program's input for a limited time, so that the program can read the
    /// reason.
    private static void refuse(ProxyConnection proxyConnection, Rejection rejection) {
        proxyConnection.answered(rejection.verdict(), rejection.status());
        try {
            proxyConnection.client().refuse(rejection);
            proxyConnection.client().finish();
            proxyConnection.client().setReadTimeout(GOODBYE);
            proxyConnection.client().awaitEnd();
        } catch (IOException | SandboxException e) {
            // The program did not wait for the response.
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Stops the resolvers. Open connections end with the channels of their sandboxes. Idempotent.
    @Override
    public void close() {
        connector.close();
    }
}
