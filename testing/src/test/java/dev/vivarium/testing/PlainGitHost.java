package dev.vivarium.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/// Git host without an API: `git http-backend` behind a server that checks the token.
final class PlainGitHost implements GitHost {
    static final String TOKEN = "plain-secret-0123456789abcdef";
    static final String OWNER = "team";

    private final HttpServer server;
    private final Path root;
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean isSilent;

    /// Number of packs that the host has sent.
    final AtomicInteger packs = new AtomicInteger();

    /// Number of requests.
    final AtomicInteger requests = new AtomicInteger();

    PlainGitHost() {
        try {
            root = Files.createTempDirectory("viv-git-host");
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    HttpServer server() {
        return server;
    }

    /// Accepts requests and does not respond to them.
    void fallSilent() {
        isSilent = true;
    }

    @Override
    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    @Override
    public String token() {
        return TOKEN;
    }

    @Override
    public String forge() {
        return "none";
    }

    @Override
    public String newRepository(String name) {
        Path bare = directory(name);
        GitHost.run(List.of("git", "init", "-q", "--bare", "--initial-branch=main", bare.toString()));
        GitHost.run(List.of("git", "-C", bare.toString(), "config", "http.receivepack", "true"));
        return uri() + "/" + OWNER + "/" + name;
    }

    Path directory(String name) {
        return root.resolve(OWNER).resolve(name + ".git");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.incrementAndGet();
            if (isSilent) {
                released.await();
                return;
            }
            String expected = "Basic ";
            String given = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
            String password = given.startsWith(expected)
                    ? new String(Base64.getDecoder().decode(given.substring(expected.length())), StandardCharsets.UTF_8)
                    : "";
            if (!password.endsWith(":" + TOKEN)) {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=git");
                exchange.sendResponseHeaders(401, -1);
                return;
            }
            backend(exchange);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void backend(HttpExchange exchange) throws IOException, InterruptedException {
        String path = exchange.getRequestURI().getPath().replaceFirst("^(/[^/]+/[^/]+?)(\\.git)?/", "$1.git/");
        var builder = new ProcessBuilder("git", "http-backend").redirectError(ProcessBuilder.Redirect.DISCARD);
        var env = builder.environment();
        env.put("GIT_PROJECT_ROOT", root.toString());
        env.put("GIT_HTTP_EXPORT_ALL", "1");
        env.put("PATH_INFO", path);
        env.put("REMOTE_USER", OWNER);
        env.put("REQUEST_METHOD", exchange.getRequestMethod());
        env.put("QUERY_STRING", String.valueOf(exchange.getRequestURI().getRawQuery()));
        header(exchange, "Content-Type").ifPresent(value -> env.put("CONTENT_TYPE", value));
        header(exchange, "Content-Encoding").ifPresent(value -> env.put("HTTP_CONTENT_ENCODING", value));
        header(exchange, "Git-Protocol").ifPresent(value -> env.put("GIT_PROTOCOL", value));
        Process process = builder.start();
        try (var in = process.getOutputStream()) {
            exchange.getRequestBody().transferTo(in);
        }
        byte[] output = process.getInputStream().readAllBytes();
        process.waitFor();
        respond(exchange, output);
    }

    private static java.util.Optional<String> header(HttpExchange exchange, String name) {
        return java.util.Optional.ofNullable(exchange.getRequestHeaders().getFirst(name));
    }

    /// Sends the output of a CGI program.
    private void respond(HttpExchange exchange, byte[] output) throws IOException {
        String text = new String(output, StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        int status = 200;
        for (String line : text.substring(0, end).split("\r\n")) {
            String[] parts = line.split(": ", 2);
            if (parts[0].equals("Status")) {
                status = Integer.parseInt(parts[1].substring(0, 3));
            } else {
                exchange.getResponseHeaders().set(parts[0], parts[1]);
            }
        }
        if (text.indexOf("PACK", end) >= 0) {
            packs.incrementAndGet();
        }
        exchange.sendResponseHeaders(status, 0);
        exchange.getResponseBody().write(output, end + 4, output.length - end - 4);
    }

    @Override
    public void close() {
        released.countDown();
        server.stop(0);
        GitHost.run(List.of("rm", "-rf", root.toString()));
    }
}
