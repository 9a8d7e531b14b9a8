package dev.vivarium.scripted;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// Model server on the loopback address that plays a [Script]. Thread-safe.
///
/// It implements Anthropic's Messages and OpenAI's chat completions, with and without streaming. It keeps the requests,
/// because tests of agents check the input of the model.
public final class ScriptedModel implements AutoCloseable {
    private static final int KEPT = 1000;
    private static final byte[] GARBAGE =
            "<html><body>This is not the API.</body></html>".getBytes(StandardCharsets.UTF_8);

    /// One received request, and the step that answered it.
    ///
    /// @param news input of the model since its last answer
    public record Asked(String path, String step, String news, int messages, String body) {}

    private final HttpServer server;
    private final ExecutorService workers;
    private final CountDownLatch closed = new CountDownLatch(1);

    private final Object lock = new Object();

    @GuardedBy("lock")
    private Script script;

    @GuardedBy("lock")
    private int[] played;

    @GuardedBy("lock")
    private final List<Asked> asked = new ArrayList<>();

    @GuardedBy("lock")
    private long answers;

    /// Latch that the held answers of this script wait for.
    @GuardedBy("lock")
    private CountDownLatch release = new CountDownLatch(1);

    private ScriptedModel(Script script, HttpServer server) {
        this.script = script;
        this.server = server;
        this.played = new int[script.steps().size()];
        this.workers = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("scripted-", 0).factory());
        server.setExecutor(workers);
        server.createContext("/", this::handle);
    }

    /// Starts to listen. Port 0 selects a free port.
    public static ScriptedModel start(Script script, int port) {
        try {
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            var model = new ScriptedModel(script, HttpServer.create(address, 0));
            model.server.start();
            return model;
        } catch (IOException e) {
            throw new UncheckedIOException("listening on port " + port, e);
        }
    }

    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /// Replaces the script, discards the kept requests, and releases all held answers of the old script.
    public void play(Script next) {
        synchronized (lock) {
            script = next;
            played = new int[next.steps().size()];
            asked.clear();
            release.countDown();
            release = new CountDownLatch(1);
        }
    }

    /// Releases the held answers of this script, present and future.
    public void release() {
        synchronized (lock) {
            release.countDown();
        }
    }

    /// Returns the last thousand requests, in order.
    public List<Asked> asked() {
        synchronized (lock) {
            return List.copyOf(asked);
        }
    }

    @Override
    public void close() {
        closed.countDown();
        release();
        server.stop(0);
        workers.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        // The JDK's server logs exceptions of handlers and continues. A client that disconnects needs no handling.
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            switch (exchange.getRequestMethod() + " " + path) {
                case "POST /v1/messages" -> play(exchange, new AnthropicDialect(), body);
                case "POST /v1/chat/completions" -> play(exchange, new OpenAiDialect(), body);
                case "POST /v1/messages/count_tokens" -> send(exchange, 200, tokens(body));
                case "GET /v1/models" -> send(exchange, 200, "{\"object\": \"list\", \"data\": []}");
                case "GET /scripted/asked" -> send(exchange, 200, journal());
                case "PUT /scripted/script" -> replace(exchange, body);
                case "POST /scripted/release" -> {
                    release();
                    exchange.sendResponseHeaders(204, -1);
                }
                default -> other(exchange, path);
            }
        }
    }

    /// Answers the `HEAD` request with which agents check that the server exists.
    private static void other(HttpExchange exchange, String path) throws IOException {
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(200, -1);
        } else {
            send(exchange, 404, new AnthropicDialect().error(404, "no route " + path));
        }
    }

    private void replace(HttpExchange exchange, String body) throws IOException {
        try {
            play(Script.parse(body));
            exchange.sendResponseHeaders(204, -1);
        } catch (IllegalArgumentException e) {
            send(exchange, 400, new AnthropicDialect().error(400, String.valueOf(e.getMessage())));
        }
    }

    private void play(HttpExchange exchange, Dialect dialect, String body) throws IOException {
        Node request;
        try {
            request = Node.parse(body);
        } catch (IllegalArgumentException e) {
            send(exchange, 400, dialect.error(400, "the body " + e.getMessage()));
            return;
        }
        Reply reply = choose(dialect.read(request), exchange.getRequestURI().getPath(), body);
        if (!pause(reply.step().delay()) || (reply.step().held() && !hold(reply))) {
            return;
        }
        if (reply.step().fault().isPresent()
                && fail(exchange, dialect, reply.step().fault().get())) {
            return;
        }
        if (reply.question().streamed()) {
            stream(exchange, dialect.pieces(reply), reply.step());
        } else {
            send(exchange, 200, dialect.answer(reply));
        }
    }

    /// Returns the first step that matches and is not used up.
    private Reply choose(Question question, String path, String body) {
        synchronized (lock) {
            Step chosen = script.otherwise();
            for (int i = 0; i < played.length; i++) {
                Step step = script.steps().get(i);
                if ((step.times() == 0 || played[i] < step.times()) && step.answers(question)) {
                    played[i]++;
                    chosen = step;
                    break;
                }
            }
            if (asked.size() == KEPT) {
                asked.removeFirst();
            }
            asked.add(new Asked(path, chosen.name(), question.news(), question.messages(), body));
            return new Reply(chosen, question, ++answers, release);
        }
    }

    /// Reports whether the fault replaced the whole answer. A cut answer still starts.
    private boolean fail(HttpExchange exchange, Dialect dialect, Fault fault) throws IOException {
        switch (fault.kind()) {
            case STATUS -> {
                fault.retryAfter()
                        .ifPresent(
                                seconds -> exchange.getResponseHeaders().set("Retry-After", String.valueOf(seconds)));
                send(exchange, fault.status(), dialect.error(fault.status(), "scripted to fail"));
            }
            case GARBAGE -> {
                exchange.getResponseHeaders().set("Content-Type", "text/html");
                exchange.sendResponseHeaders(200, GARBAGE.length);
                exchange.getResponseBody().write(GARBAGE);
            }
            case HANG -> pause(Duration.ofHours(1));
            case CLOSE -> {
                // Closing the exchange without a response ends the connection.
            }
            case CUT -> {
                return false;
            }
        }
        return true;
    }

    private void stream(HttpExchange exchange, List<String> pieces, Step step) throws IOException {
        boolean cut =
                step.fault().map(Fault::kind).filter(Fault.Kind.CUT::equals).isPresent();
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        var out = exchange.getResponseBody();
        for (String piece : pieces.subList(0, cut ? pieces.size() / 2 : pieces.size())) {
            out.write(piece.getBytes(StandardCharsets.UTF_8));
            out.flush();
            if (!pause(step.delay())) {
                return;
            }
        }
    }

    private static void send(HttpExchange exchange, int status, String json) throws IOException {
        byte[] content = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, content.length);
        exchange.getResponseBody().write(content);
    }

    /// Reports whether the time passed while the server was open.
    private boolean pause(Duration time) {
        try {
            return time.isZero() || !closed.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Reports whether the answer was released while the server was open.
    private boolean hold(Reply reply) {
        try {
            reply.release().await();
            return closed.getCount() > 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static String tokens(String body) {
        return Node.EMPTY.with("input_tokens", Math.max(1, body.length() / 4)).json();
    }

    private String journal() {
        List<Node> all = asked().stream()
                .map(one -> Node.EMPTY
                        .with("path", one.path())
                        .with("step", one.step())
                        .with("news", one.news())
                        .with("messages", one.messages())
                        .with("body", one.body()))
                .toList();
        return Node.EMPTY.with("asked", all).json();
    }
}
