package dev.vivarium.core.egress;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.Socket;
import java.util.List;
import java.util.Optional;

/// One request to a host and its response, on a separate connection. Confined to its two worker threads.
///
/// The forwarder writes new headers of both from the parsed message.
final class HttpForwarder {
    private static final int TLS_PORT = 443;
    private static final int WEB_PORT = 80;

    /// Maximum number of informational responses before the final response, and maximum total size of their
    /// headers.
    private static final int MAX_INFORMATIONAL = 16;

    private static final int MAX_INFORMATIONAL_BYTES = 64 * 1024;

    private final ProxyConnection proxyConnection;
    private final ProgramConnection client;
    private final Order order;
    private final HttpReader source;
    private final Socket socket;

    /// Set if the request body could not be sent completely.
    private volatile Optional<Rejection> brokenBody = Optional.empty();

    /// Set when the program has received the response head. Confined to the thread that forwards the response.
    private boolean answered;

    /// Request to send, its destination, and the credentials to add. Immutable.
    record Order(RequestHead head, BodyFraming body, Destination to, List<Credential> credentials) {
        Order {
            credentials = List.copyOf(credentials);
        }

        /// Returns the request head that the proxy sends to the host.
        String lines() {
            int usual = credentials.isEmpty() ? WEB_PORT : TLS_PORT;
            var lines = new StringBuilder(head.method() + " " + to.path() + " HTTP/1.1\r\n");
            lines.append("Host: ").append(to.authority(usual)).append("\r\n");
            for (HeaderLines.Line line : head.headers().forwarded()) {
                if (credentials.stream().noneMatch(credential -> line.isNamed(credential.header()))) {
                    append(lines, line.name(), line.value());
                }
            }
            credentials.forEach(credential -> append(lines, credential.header(), credential.value()));
            return lines.append(body.header())
                    .append("Connection: close\r\n\r\n")
                    .toString();
        }

        /// The response must not reveal a credential to the program.
        boolean isSecret(String value) {
            return credentials.stream().anyMatch(credential -> credential.isContainedIn(value));
        }
    }

    HttpForwarder(ProxyConnection proxyConnection, Order order, HttpReader source, Socket socket) {
        this.proxyConnection = proxyConnection;
        this.client = proxyConnection.client();
        this.order = order;
        this.source = source;
        this.socket = socket;
    }

    /// Sends the request, forwards the response, and returns when the program has received it.
    void run() throws IOException {
        ask();
        Thread up = Thread.ofVirtual().name("egress-up-" + order.to()).start(this::up);
        try {
            answer();
            client.finish();
        } catch (Rejection e) {
            refuse(brokenBody.orElse(e));
        } catch (IOException e) {
            abort();
        } finally {
            proxyConnection.closeHost();
            Tunnel.await(up);
        }
    }

    /// Closes the connection, so that an incomplete response does not look complete. If the program has received
    /// nothing yet and its body is invalid, sends the rejection.
    private void abort() throws IOException {
        if (!answered && brokenBody.isPresent()) {
            refuse(brokenBody.get());
        } else {
            client.close();
        }
    }

    private void ask() throws IOException {
        try {
            socket.getOutputStream().write(EgressProxy.bytes(order.lines()));
        } catch (IOException e) {
            throw Rejection.badAnswer(order.to() + " closed the connection: " + e.getMessage());
        }
        if (order.head().awaitsContinue()) {
            client.out().write(EgressProxy.bytes("HTTP/1.1 100 Continue\r\n\r\n"));
        }
    }

    private void refuse(Rejection rejection) throws IOException {
        proxyConnection.answered(rejection.verdict(), rejection.status());
        client.refuse(rejection);
        client.finish();
    }

    private void up() {
        try {
            sendBody();
            // If the program closes its side, it no longer waits for the response.
            proxyConnection.lingerUntil(client::awaitEndOfInput);
        } catch (SandboxException e) {
            proxyConnection.closeHost();
        }
    }

    /// A host may respond before it has read the whole body, so a write error does not end the exchange.
    private void sendBody() {
        try {
            client.setReadTimeout(EgressProxy.IDLE);
            source.copy(order.body(), order.body(), socket.getOutputStream());
        } catch (IllegalArgumentException e) {
            giveUp("the body cannot be read: " + e.getMessage());
        } catch (InterruptedIOException e) {
            giveUp("the body did not come");
        } catch (IOException e) {
            // The remaining input of the program is discarded.
        }
    }

    private void giveUp(String why) {
        brokenBody = Optional.of(Rejection.malformed(why));
        proxyConnection.closeHost();
    }

    private void answer() throws IOException {
        var answers = new HttpReader(new TimeoutInputStream(socket.getInputStream(), client));
        ResponseHead head = awaitHead(answers);
        BodyFraming body = readable(() -> head.body(order.head().method()));
        BodyFraming as = switch (body) {
            case BodyFraming.Chunked _, BodyFraming.UntilClose _ ->
                order.head().isOld() ? new BodyFraming.UntilClose() : new BodyFraming.Chunked();
            case BodyFraming.Absent _, BodyFraming.Length _ -> body;
        };
        proxyConnection.answered(EgressRecord.Verdict.ALLOWED, head.status());
        answered = true;
        client.out().write(EgressProxy.bytes(lines(head, as)));
        try {
            answers.copy(body, as, client.out());
        } catch (IllegalArgumentException e) {
            throw new IOException("the answer cannot be read on", e);
        }
    }

    /// Skips informational responses up to the limits, because a host could send them forever.
    private ResponseHead awaitHead(HttpReader answers) {
        int bytes = 0;
        for (int skipped = 0; skipped <= MAX_INFORMATIONAL && bytes <= MAX_INFORMATIONAL_BYTES; skipped++) {
            List<String> lines = readable(() -> firstLines(answers));
            ResponseHead head = readable(() -> ResponseHead.of(lines));
            if (head.status() == 101) {
                throw Rejection.badAnswer(order.to() + " switched protocols without an upgrade request");
            }
            if (!head.isInterim()) {
                return head;
            }
            bytes += lines.stream().mapToInt(line -> line.length() + 2).sum();
        }
        throw Rejection.badAnswer(order.to() + " sent more than " + MAX_INFORMATIONAL + " informational responses or "
                + MAX_INFORMATIONAL_BYTES / 1024 + " KiB of them before its answer");
    }

    private List<String> firstLines(HttpReader answers) {
        try {
            return answers.head()
                    .orElseThrow(() -> Rejection.badAnswer(order.to() + " closed the connection without an answer"));
        } catch (InterruptedIOException e) {
            throw new Rejection(504, EgressRecord.Verdict.UNREACHABLE, order.to() + " does not answer");
        } catch (IOException e) {
            throw Rejection.badAnswer(order.to() + " broke off: " + e.getMessage());
        }
    }

    private <T> T readable(java.util.function.Supplier<T> reading) {
        try {
            return reading.get();
        } catch (IllegalArgumentException e) {
            throw Rejection.badAnswer("the answer of " + order.to() + " cannot be read: " + e.getMessage());
        }
    }

    /// Returns the response head that the proxy sends to the program.
    private String lines(ResponseHead head, BodyFraming as) {
        String reason = order.isSecret(head.reason()) ? "" : head.reason();
        var lines = new StringBuilder("HTTP/1.1 " + head.status() + " " + reason + "\r\n");
        for (HeaderLines.Line line : head.headers().forwarded()) {
            if (!order.isSecret(line.value())) {
                append(lines, line.name(), line.value());
            }
        }
        // A response to HEAD has no body, but keeps its length header.
        BodyFraming said =
                as instanceof BodyFraming.Absent && order.head().method().equals("HEAD")
                        ? BodyFraming.of(head.headers(), as)
                        : as;
        return lines.append(said.header()).append("Connection: close\r\n\r\n").toString();
    }

    private static void append(StringBuilder lines, String name, String value) {
        lines.append(name).append(": ").append(value).append("\r\n");
    }
}
