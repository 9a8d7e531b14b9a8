package dev.vivarium.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// Fake vendor of OpenAI's API that records the last request. Thread-safe.
final class OpenAiVendor implements AutoCloseable {
    /// Default stream.
    static final String STREAM = "data: {\"model\":\"gpt-4o\",\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"
            + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":100,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":400}}}\n\ndata: [DONE]\n\n";

    private final HttpServer http;
    private final String key;
    private final CountDownLatch disconnected = new CountDownLatch(1);
    private volatile boolean held;
    private volatile String sent = "";
    private volatile String stream = STREAM;

    private OpenAiVendor(HttpServer http, String key) {
        this.http = http;
        this.key = key;
    }

    /// Starts the vendor on a free port. It repeats the key in an error if a request asks for it.
    static OpenAiVendor start(String key) throws IOException {
        var http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        var vendor = new OpenAiVendor(http, key);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/v1/chat/completions", vendor::complete);
        http.createContext("/v1/models", exchange -> respond(exchange, 200, "{\"data\":[{\"id\":\"gpt-4o\"}]}"));
        http.start();
        return vendor;
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /// Headers and body of the last request.
    String sent() {
        return sent;
    }

    /// Streams these bytes from now on, one byte for each character.
    void stream(String bytes) {
        stream = bytes;
    }

    void forget() {
        sent = "";
    }

    /// Waits for the held client to disconnect. Returns false if no client was held or none disconnected in time.
    boolean awaitDisconnect() throws InterruptedException {
        return held && disconnected.await(60, TimeUnit.SECONDS);
    }

    /// Records the request and answers as its body demands.
    private void complete(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        sent = exchange.getRequestHeaders().entrySet() + "\n" + body;
        if (body.contains("please hold")) {
            hold(exchange);
        } else if (body.contains("echo the key")) {
            respond(exchange, 400, "{\"error\":{\"message\":\"bad key " + key + "\"}}");
        } else if (body.contains("\"stream\":true")) {
            exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(stream.getBytes(StandardCharsets.ISO_8859_1));
            exchange.close();
        } else {
            respond(exchange, 200, "{\"model\":\"gpt-4o\",\"choices\":[{\"message\":{\"content\":\"12345678\"}}]}");
        }
    }

    /// Starts a response and waits until the client disconnects.
    private void hold(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        var out = exchange.getResponseBody();
        held = true;
        try {
            while (true) {
                out.write(": still here\n\n".getBytes(StandardCharsets.UTF_8));
                out.flush();
                if (disconnected.await(20, TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (IOException e) {
            disconnected.countDown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void respond(HttpExchange exchange, int status, String json) throws IOException {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.getResponseHeaders().add("Set-Cookie", "vendor=1");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
