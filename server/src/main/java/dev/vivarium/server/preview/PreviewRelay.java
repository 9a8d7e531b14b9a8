package dev.vivarium.server.preview;

import dev.vivarium.core.LoopBudget;
import dev.vivarium.core.preview.Connection;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.util.BufferUtil;

/// Relay of one request to a program and of its response. Confined to the worker that serves the request.
///
/// It streams both bodies. Before it sends the status line, a failure becomes a problem response. Afterwards, a failure
/// closes the connection.
final class PreviewRelay {
    private final Request request;
    private final Response response;
    private final PreviewAddress address;
    private final Duration timeout;
    private final LoopBudget budget = new LoopBudget();

    PreviewRelay(Request request, Response response, PreviewAddress address, Duration timeout) {
        this.request = request;
        this.response = response;
        this.address = address;
        this.timeout = timeout;
    }

    /// Serves the request over `connection` and takes ownership of it. If both sides upgrade, it returns the
    /// tunnel, which opens when the request completes.
    Optional<Tunnel> run(Connection connection, MetaData.Request inward) throws IOException {
        // The relay has its own idle timeout, which covers both sides.
        request.addIdleTimeoutListener(_ -> false);
        var upstream = new Upstream(connection, address.port(), timeout, inward);
        boolean keep = false;
        try {
            boolean hasBody = hasBody(request);
            upstream.sendHead(!hasBody);
            if (!hasBody) {
                Optional<Tunnel> tunnel = answer(upstream);
                keep = tunnel.isPresent();
                return tunnel;
            }
            try (var _ = RequestUpload.start(request, upstream)) {
                return answer(upstream);
            }
        } finally {
            if (!keep) {
                upstream.close();
            }
        }
    }

    /// Returns the request for the program, with the same body length.
    static MetaData.Request inward(Request request, String target, org.eclipse.jetty.http.HttpFields headers) {
        long length = hasBody(request) ? request.getLength() : 0;
        return new MetaData.Request(
                request.getMethod(),
                HttpURI.build().pathQuery(target).asImmutable(),
                HttpVersion.HTTP_1_1,
                headers,
                length);
    }

    private static boolean hasBody(Request request) {
        return request.getLength() > 0
                || request.getLength() < 0 && request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
    }

    private Optional<Tunnel> answer(Upstream upstream) throws IOException {
        ResponseHead answer = upstream.awaitAnswer();
        if (answer.isUpgrade()) {
            return Optional.of(upgrade(upstream, answer));
        }
        begin(answer);
        if (upstream.rest().hasRemaining()) {
            pass(upstream);
        } else {
            // The body can start late, as with server-sent events. The client must get the headers now.
            send(BufferUtil.EMPTY_BUFFER, false);
            pass(upstream);
        }
        return Optional.empty();
    }

    private void begin(ResponseHead answer) {
        response.setStatus(answer.status());
        Headers.outward(answer, address, response.getHeaders());
    }

    private void pass(Upstream upstream) throws IOException {
        for (var piece = upstream.next(); piece.isPresent(); piece = upstream.next()) {
            send(piece.get(), false);
        }
        send(BufferUtil.EMPTY_BUFFER, true);
    }

    private Tunnel upgrade(Upstream upstream, ResponseHead answer) throws IOException {
        if (Headers.upgrade(request).isEmpty() || !answer.headers().contains(HttpHeader.UPGRADE)) {
            throw new SandboxException(
                    new Failure.BadAnswer("port " + address.port(), "it changes the protocol unasked"));
        }
        begin(answer);
        EndPoint caller = request.getConnectionMetaData().getConnection().getEndPoint();
        var tunnel = new Tunnel(caller, request.getComponents().getExecutor(), upstream, timeout);
        request.setAttribute(HttpStream.UPGRADE_CONNECTION_ATTRIBUTE, tunnel);
        send(BufferUtil.EMPTY_BUFFER, true);
        return tunnel;
    }

    private void send(ByteBuffer bytes, boolean last) throws IOException {
        int length = bytes.remaining();
        budget.blocks();
        try (var sent = Blocker.callback()) {
            response.write(last, bytes, sent);
            sent.block();
        }
        budget.spend(length);
    }
}
