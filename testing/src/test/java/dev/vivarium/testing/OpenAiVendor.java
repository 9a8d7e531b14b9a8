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

/// A model in OpenAI's dialect that shows what it was sent. Thread-safe.
final class OpenAiVendor implements AutoCloseable {
    /// What is streamed unless something else was said.
    static final String STREAM = "data: {\"model\":\"gpt-4o\",\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"
            + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":100,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":400}}}\n\ndata: [DONE]\n\n";

    private final HttpServer http;
    private final String key;
    private final CountDownLatch gone = new CountDownLatch(1);
    private volatile boolean held;
    private volatile String sent = "";
    private volatile String stream = STREAM;

    private OpenAiVendor(HttpServer http, String key) {
        this.http = http;
        this.key = key;
    }

    /// One on a port of its own, that knows the key it is asked with.
    static OpenAiVendor start(String key) throws IOException {
        var http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        var vendor = new OpenAiVendor(http, key);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/v1/chat/completions", vendor::complete);
        http.createContext("/v1/models", exchange -> say(exchange, 200, "{\"data\":[{\"id\":\"gpt-4o\"}]}"));
        http.start();
        return vendor;
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /// The headers and the body of the last question.
    String sent() {
        return sent;
    }

    /// Streams these bytes from now on, a character each.
    void stream(String bytes) {
        stream = bytes;
    }

    void forget() {
        sent = "";
    }

    /// Waits until the caller who was held has hung up, and reports whether one was and has.
    boolean awaitHangUp() throws InterruptedException {
        return held && gone.await(60, TimeUnit.SECONDS);
    }

    /// Keeps its headers and body, and does what the question says.
    private void complete(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        sent = exchange.getRequestHeaders().entrySet() + "\n" + body;
        if (body.contains("please hold")) {
            hold(exchange);
        } else if (body.contains("echo the key")) {
            say(exchange, 400, "{\"error\":{\"message\":\"bad key " + key + "\"}}");
        } else if (body.contains("\"stream\":true")) {
            exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(stream.getBytes(StandardCharsets.ISO_8859_1));
            exchange.close();
        } else {
            say(exchange, 200, "{\"model\":\"gpt-4o\",\"choices\":[{\"message\":{\"content\":\"12345678\"}}]}");
        }
    }

    /// Begins to answer and waits until the caller hangs up.
    private void hold(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        var out = exchange.getResponseBody();
        held = true;
        try {
            while (true) {
                out.write(": still here\n\n".getBytes(StandardCharsets.UTF_8));
                out.flush();
                if (gone.await(20, TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (IOException e) {
            gone.countDown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void say(HttpExchange exchange, int status, String json) throws IOException {
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
