package dev.vivarium.core.egress;

import dev.vivarium.model.HostName;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// HTTP client of the server for hosts that users name. It resolves the name, checks each address, and connects to
/// exactly a checked address. It follows no redirect. Thread-safe.
public final class OutboundHttp implements AutoCloseable {
    private static final int TLS_PORT = 443;
    private static final int PLAIN_PORT = 80;

    private final OutboundConnector connector;
    private final String setting;

    /// @param config  resolver, permitted private addresses and TLS
    /// @param setting setting that permits private addresses, for errors
    public OutboundHttp(EgressConfig config, String setting) {
        this.connector = new OutboundConnector(config);
        this.setting = setting;
    }

    /// A host and its port. Immutable.
    public record Target(boolean isTls, HostName host, int port) {
        private Destination destination() {
            return new Destination(host, port, "");
        }

        private String authority() {
            return destination().authority(isTls ? TLS_PORT : PLAIN_PORT);
        }

        @Override
        public String toString() {
            return authority();
        }
    }

    /// A body of a request. Its writer is called once.
    ///
    /// @param length absent for a body in chunks
    public record Body(OptionalLong length, Writer writer) {
        public static Body of(byte[] bytes) {
            return new Body(OptionalLong.of(bytes.length), out -> out.write(bytes));
        }
    }

    /// Writer of a body.
    @FunctionalInterface
    public interface Writer {
        void write(OutputStream out) throws IOException;
    }

    /// A request. Immutable.
    ///
    /// @param path    path and query
    /// @param headers without those of the connection, which the client writes
    public record Request(String method, String path, Map<String, String> headers, Optional<Body> body) {
        public Request {
            headers = Map.copyOf(headers);
        }
    }

    /// Limits of a request. Immutable.
    ///
    /// @param idle  longest time without data from the host
    /// @param total longest time of the request and its response
    public record Limits(Duration idle, Duration total) {}

    /// Sends a request and returns the head of the response. Close the response.
    public Response send(Target target, Request request, Limits limits) throws OutboundException {
        try {
            Socket socket = connect(target, limits.idle);
            return new Exchange(target, request, limits, socket).response();
        } catch (Rejection e) {
            throw rejected(target, e);
        } catch (SocketTimeoutException e) {
            throw timedOut(target, limits.idle);
        } catch (OutboundException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new OutboundException(OutboundException.Kind.FAILED, target + ": " + e.getMessage());
        }
    }

    private Socket connect(Target target, Duration timeout) throws IOException {
        Socket plain = connector.connect(target.destination());
        try {
            if (!target.isTls && AddressPolicy.isPublic(plain.getInetAddress())) {
                throw new OutboundException(
                        OutboundException.Kind.REFUSED, target + " is a public host, which needs https");
            }
            Socket socket = target.isTls ? connector.secure(plain, target.destination()) : plain;
            socket.setSoTimeout((int) timeout.toMillis());
            return socket;
        } catch (IOException | RuntimeException e) {
            plain.close();
            throw e;
        }
    }

    private OutboundException rejected(Target target, Rejection why) {
        return switch (why.verdict()) {
            case ADDRESS_REFUSED ->
                new OutboundException(
                        OutboundException.Kind.REFUSED,
                        target.host + " leads to an address that is not public; the operator can permit it with the"
                                + " setting " + setting);
            default ->
                new OutboundException(
                        why.status() == 504 ? OutboundException.Kind.TIMED_OUT : OutboundException.Kind.FAILED,
                        why.sentence());
        };
    }

    private static OutboundException timedOut(Target target, Duration limit) {
        return new OutboundException(
                OutboundException.Kind.TIMED_OUT, target + " did not respond within " + limit.toSeconds() + " s");
    }

    /// Head of a response, and its body as a stream. Confined to one thread; any thread may close it.
    public static final class Response implements AutoCloseable {
        private final ResponseHead head;
        private final HttpReader reader;
        private final Exchange exchange;

        private Response(ResponseHead head, HttpReader reader, Exchange exchange) {
            this.head = head;
            this.reader = reader;
            this.exchange = exchange;
        }

        public int status() {
            return head.status();
        }

        /// Returns the first header of this name.
        public Optional<String> header(String name) {
            return head.headers().all(name).stream().findFirst();
        }

        /// Returns the address of the host, which was checked.
        public InetAddress address() {
            return exchange.socket.getInetAddress();
        }

        /// Copies the body.
        public void copyTo(OutputStream out) throws IOException {
            try {
                reader.copy(head.body(exchange.request.method), new BodyFraming.UntilClose(), out);
            } catch (SocketTimeoutException e) {
                throw timedOut(exchange.target, exchange.limits.idle);
            } catch (IllegalArgumentException e) {
                throw new OutboundException(OutboundException.Kind.FAILED, exchange.target + ": " + e.getMessage());
            }
        }

        /// Ends the connection. Idempotent.
        @Override
        public void close() {
            exchange.close();
        }
    }

    /// One request on a connection of its own.
    private static final class Exchange {
        private final Target target;
        private final Request request;
        private final Limits limits;
        private final Socket socket;
        private final CompletableFuture<Boolean> deadline;

        Exchange(Target target, Request request, Limits limits, Socket socket) {
            this.target = target;
            this.request = request;
            this.limits = limits;
            this.socket = socket;
            this.deadline = new CompletableFuture<Boolean>()
                    .completeOnTimeout(true, limits.total.toMillis(), TimeUnit.MILLISECONDS);
            var _ = deadline.thenRun(this::closeSocket);
        }

        Response response() throws IOException {
            try {
                Optional<IOException> unsent = send();
                try {
                    var reader = new HttpReader(socket.getInputStream());
                    return new Response(head(reader), reader, this);
                } catch (IOException e) {
                    // A host may respond before it has read the body. Without a response, the first error counts.
                    throw unsent.orElse(e);
                }
            } catch (IOException | RuntimeException e) {
                close();
                throw e;
            }
        }

        private Optional<IOException> send() throws IOException {
            try {
                var out = new BufferedOutputStream(socket.getOutputStream(), 32 * 1024);
                out.write(requestHead().getBytes(StandardCharsets.ISO_8859_1));
                if (request.body.isPresent()) {
                    write(request.body.get(), out);
                }
                out.flush();
                return Optional.empty();
            } catch (SocketException e) {
                return Optional.of(e);
            }
        }

        private static void write(Body body, OutputStream out) throws IOException {
            if (body.length.isPresent()) {
                body.writer.write(out);
                return;
            }
            var chunks = new ChunkedOutput(out);
            body.writer.write(chunks);
            chunks.finish();
        }

        private String requestHead() {
            var head = new StringBuilder(request.method + " " + request.path + " HTTP/1.1\r\nHost: "
                    + target.authority() + "\r\nConnection: close\r\nAccept-Encoding: identity\r\n");
            request.headers.forEach((name, value) -> head.append(line(name, value)));
            request.body.ifPresent(body -> head.append(
                    body.length.isPresent()
                            ? line("Content-Length", Long.toString(body.length.getAsLong()))
                            : line("Transfer-Encoding", "chunked")));
            return head.append("\r\n").toString();
        }

        private static String line(String name, String value) {
            if (!value.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
                throw new IllegalArgumentException("the header " + name + " has a value that no header can carry");
            }
            return name + ": " + value + "\r\n";
        }

        private ResponseHead head(HttpReader reader) throws IOException {
            while (true) {
                List<String> lines = reader.head().orElseThrow(() -> new IOException("closed the connection"));
                ResponseHead head = ResponseHead.of(lines);
                if (!head.isInterim()) {
                    return head;
                }
            }
        }

        void close() {
            boolean _ = deadline.cancel(false);
            closeSocket();
        }

        private void closeSocket() {
            try {
                socket.close();
            } catch (IOException e) {
                // The connection is not used again.
            }
        }
    }

    /// Stops the resolver threads. Idempotent.
    @Override
    public void close() {
        connector.close();
    }
}
