package dev.vivarium.core.webhook;

import dev.vivarium.core.egress.PublicConnector;
import dev.vivarium.model.HostName;
import dev.vivarium.model.NewWebhook;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One `POST` over HTTP/1.1. [#abort] ends it from another thread.
///
/// It reads only the status and the headers of the response, up to a limit, and closes the connection. It follows no
/// redirect.
final class WebhookRequest {
    /// Maximum size of the status lines and headers of a response.
    private static final int MAX_HEAD = 16 * 1024;

    private static final int MAX_LINE = 4096;

    private final NewWebhook to;
    private final Map<String, String> headers;
    private final byte[] body;
    private volatile @Nullable Socket socket;
    private volatile boolean aborted;

    WebhookRequest(NewWebhook to, Map<String, String> headers, byte[] body) {
        this.to = to;
        this.headers = headers;
        this.body = body;
    }

    PostResult send(PublicConnector connector) {
        HostName host = to.host();
        try (Socket plain = connector.connect(host, to.port())) {
            hold(plain);
            if (!to.isSecure()) {
                return PostResult.answered(exchange(plain));
            }
            try (Socket secured = connector.secure(plain, host, to.port())) {
                secured.setSoTimeout(0);
                return PostResult.answered(exchange(secured));
            }
        } catch (IOException e) {
            return PostResult.failed(aborted ? "the receiver did not answer in time" : String.valueOf(e.getMessage()));
        }
    }

    private void hold(Socket open) throws SocketException {
        socket = open;
        if (aborted) {
            throw new SocketException("the deadline has passed");
        }
    }

    /// Ends the request, also while it connects or waits.
    void abort() {
        aborted = true;
        Socket open = socket;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The request fails in any case.
            }
        }
    }

    private int exchange(Socket connection) throws IOException {
        OutputStream out = connection.getOutputStream();
        out.write(head());
        out.write(body);
        out.flush();
        return status(new BufferedInputStream(connection.getInputStream()));
    }

    private byte[] head() {
        int usual = to.isSecure() ? 443 : 80;
        String host = to.host().text() + (to.port() == usual ? "" : ":" + to.port());
        var text = new StringBuilder("POST " + to.path() + " HTTP/1.1\r\nHost: " + host + "\r\n");
        headers.forEach(
                (name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
        text.append("Content-Type: application/json\r\nContent-Length: ").append(body.length);
        text.append("\r\nConnection: close\r\n\r\n");
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /// Returns the first final status. Interim responses, 100 to 199, precede it.
    private static int status(InputStream in) throws IOException {
        int left = MAX_HEAD;
        while (true) {
            String line = line(in);
            left -= line.length() + 1;
            if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
                throw new IOException("the receiver does not speak HTTP/1.1");
            }
            int status = Integer.parseInt(line.substring(9, 12));
            if (status >= 200) {
                return status;
            }
            for (String header = line(in); !header.isEmpty(); header = line(in)) {
                left -= header.length() + 1;
                if (left < 0) {
                    throw new IOException("the headers of the response are too long");
                }
            }
        }
    }

    private static String line(InputStream in) throws IOException {
        var text = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("the receiver closed the connection without a response");
            }
            if (text.length() >= MAX_LINE) {
                throw new IOException("a line of the response is too long");
            }
            text.append((char) next);
        }
        return text.toString().stripTrailing();
    }
}
