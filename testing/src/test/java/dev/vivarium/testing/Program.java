package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// A program in a sandbox of its own, `program.py` by default, and a raw HTTP client of its preview. Immutable.
record Program(Api api, URI server, String key, String session, int port) {
    private static final int TIMEOUT_MILLIS = 60_000;

    static Program start(TestServer server) {
        return start(server, server.api().session(), "program.py", "python3 program.py");
    }

    /// Starts another program, which must write its port to the file `port`.
    static Program start(TestServer server, String session, String file, String command) {
        Api api = server.api();
        assertThat(api.upload(session, file, source(file)).status()).isEqualTo(200);
        api.execute(session, command + " > log 2>&1 &");
        await().until(() -> api.download(session, "port").status() == 200);
        int port = Integer.parseInt(api.download(session, "port").text().strip());
        return new Program(api, server.uri(), server.adminKey(), session, port);
    }

    private static String source(String file) {
        try (InputStream in = Program.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A response as received.
    record Raw(String text) {
        int status() {
            return Integer.parseInt(text.substring(9, 12));
        }

        String head() {
            return text.substring(0, text.indexOf("\r\n\r\n"));
        }

        String body() {
            return text.substring(text.indexOf("\r\n\r\n") + 4);
        }

        List<String> headers(String name) {
            return head().lines()
                    .filter(line -> line.toLowerCase().startsWith(name.toLowerCase() + ":"))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .toList();
        }

        /// The request as the program received it.
        JsonFields seen() {
            return dev.vivarium.json.Json.answer(body());
        }
    }

    /// Path of the preview below the API.
    String prefix() {
        return "/sandboxes/" + session + "/ports/" + port;
    }

    /// Host of the preview.
    String host() {
        return port + "-" + session + ".localhost:" + server.getPort();
    }

    /// Sends a GET below the API path, as the admin.
    Raw get(String path, String... headers) {
        return ask("GET", path, "", headers);
    }

    Raw ask(String method, String path, String body, String... headers) {
        return send(request(method, prefix() + path, server.getAuthority(), headers) + auth() + "\r\n" + body);
    }

    /// Sends a GET to the preview host, as the admin.
    Raw getAtHost(String path, String... headers) {
        return send(request("GET", path, host(), headers) + auth() + "\r\n");
    }

    /// Sends a GET without credentials, except those in `headers`.
    Raw anonymous(String path, String host, String... headers) {
        return send(request("GET", path, host, headers) + "\r\n");
    }

    String auth() {
        return "X-API-Key: " + key + "\r\n";
    }

    private static String request(String method, String target, String host, String... headers) {
        String start = method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n";
        return start + List.of(headers).stream().map(h -> h + "\r\n").reduce("", String::concat);
    }

    Raw send(String request) {
        try (var socket = connect()) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new Raw(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Socket connect() throws IOException {
        var socket = new Socket(server.getHost(), server.getPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        return socket;
    }
}
