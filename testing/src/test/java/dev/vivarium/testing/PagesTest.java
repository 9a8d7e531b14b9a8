package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.SandboxId;
import dev.vivarium.server.console.Pages;
import java.io.IOException;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Static files of a small console, as a browser receives them.
class PagesTest {
    private static final String HTML = "text/html,application/xhtml+xml,*/*;q=0.8";

    @TempDir
    static Path directory;

    private static TestServer server;

    @BeforeAll
    static void start() throws IOException {
        Path root = Files.createDirectories(directory.resolve("console"));
        Files.createDirectories(root.resolve("assets"));
        Files.writeString(root.resolve("index.html"), "<!doctype html><title>console</title>");
        Files.writeString(root.resolve("favicon.svg"), "<svg/>");
        Files.writeString(root.resolve("assets/app-1a2b.js"), "plain");
        Files.writeString(root.resolve("assets/app-1a2b.js.gz"), "compressed");
        Files.writeString(directory.resolve("secret.txt"), "secret");
        server = TestServer.start(Pages.in(root));
        Files.writeString(root.resolve("assets/late.js"), "late");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/console", "/console/fleet", "/console/sandboxes/sbx1?tab=timeline&at=3", "/docs"})
    void browsersGetThePageWithAStrictPolicy(String path) {
        var answer = get(path, "Accept", HTML);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).contains("<title>console</title>");
        assertThat(header(answer, "Content-Type")).isEqualTo("text/html; charset=utf-8");
        assertThat(header(answer, "Cache-Control")).isEqualTo("no-cache");
        assertThat(header(answer, "Content-Security-Policy"))
                .contains(
                        "default-src 'self'",
                        "script-src 'self'",
                        "frame-src 'self' http://*.localhost:*",
                        "frame-ancestors 'none'",
                        "base-uri 'none'",
                        "object-src 'none'")
                .doesNotContain("unsafe", "sandbox");
        assertThat(header(answer, "X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(header(answer, "Referrer-Policy")).isEqualTo("no-referrer");
        assertThat(header(answer, "Cross-Origin-Opener-Policy")).isEqualTo("same-origin");
    }

    @Test
    void unchangedPageReturnsNotModified() {
        String tag = header(get("/console", "Accept", HTML), "ETag");
        var answer = get("/console", "Accept", HTML, "If-None-Match", tag);

        assertThat(answer.status()).isEqualTo(304);
        assertThat(answer.bytes()).isEmpty();
        assertThat(get("/console", "Accept", HTML, "If-None-Match", "\"other\"").status())
                .isEqualTo(200);
    }

    @Test
    void assetsAreImmutableAndCompressedIfAccepted() {
        var plain = get("/assets/app-1a2b.js");
        var compressed = get("/assets/app-1a2b.js", "Accept-Encoding", "br, gzip");

        assertThat(plain.text()).isEqualTo("plain");
        assertThat(header(plain, "Content-Type")).isEqualTo("text/javascript; charset=utf-8");
        assertThat(header(plain, "Cache-Control")).isEqualTo("public, max-age=31536000, immutable");
        assertThat(header(plain, "Vary")).isEqualTo("Accept-Encoding");
        assertThat(compressed.text()).isEqualTo("compressed");
        assertThat(header(compressed, "Content-Encoding")).isEqualTo("gzip");
        assertThat(get("/assets/app-1a2b.js", "Accept-Encoding", "gzip;q=0").text())
                .isEqualTo("plain");
        assertThat(header(get("/favicon.svg"), "Content-Type")).isEqualTo("image/svg+xml");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/assets/../../secret.txt",
                "/assets/..%2f..%2fsecret.txt",
                "/assets/%2e%2e/%2e%2e/secret.txt",
                "/../secret.txt",
                "//secret.txt",
                "/assets/",
                "/assets",
                "/assets/none.js",
                "/assets/late.js",
                "/assets/app-1a2b.js.gz",
                "/assets/app-1a2b.js%00",
                "/assets/app%2d1a2b.js",
                "/dev/vivarium/console/index.html"
            })
    void otherFilesAreNotServed(String path) throws IOException {
        String answer = raw(path);

        assertThat(answer).startsWith("HTTP/1.1 4").doesNotEndWith("secret").doesNotEndWith("late");
    }

    @Test
    void nonBrowserClientsGetTheApiResponses() {
        assertThat(get("/").json().string("name")).isEqualTo("vivarium");
        assertThat(get("/", "Accept", "application/json").json().string("openapi"))
                .isEqualTo("/openapi.json");
        assertThat(get("/console/fleet", "Accept", "application/json").status()).isEqualTo(404);
        assertThat(get("/console/session", "Accept", HTML).status()).isEqualTo(401);
        assertThat(get("/threads", "Accept", HTML).status()).isEqualTo(401);
    }

    @Test
    void sessionNamesTheConsoleBuild() {
        assertThat(server.api().get("/console/session").json().object("server").string("build"))
                .hasSize(16)
                .matches(build -> header(get("/", "Accept", HTML), "ETag").startsWith("\"" + build));
    }

    @Test
    void previewHostServesNoConsole() throws IOException {
        String host = "3000-" + SandboxId.random(new SecureRandom()) + ".localhost";

        assertThat(raw("/console", host)).doesNotContain("<title>console</title>");
    }

    @Test
    void consoleIsServedFromAJar() throws IOException {
        Path jar = directory.resolve("console.jar");
        try (var out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (String name : List.of("index.html", "assets/app.css", "../other.txt")) {
                out.putNextEntry(new JarEntry("dev/vivarium/console/" + name));
                out.write("in a jar".getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
            }
        }
        try (var loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
                var own = TestServer.start(Pages.of(loader))) {
            assertThat(get(own, "/console/x", "Accept", HTML).text()).isEqualTo("in a jar");
            assertThat(header(get(own, "/assets/app.css"), "Content-Type")).isEqualTo("text/css; charset=utf-8");
            assertThat(get(own, "/assets/other.css").status()).isEqualTo(401);
        }
    }

    @Test
    void consoleIsServedFromAClassPathDirectory() throws IOException {
        Path root = directory.resolve("classes/dev/vivarium/console/assets");
        Files.createDirectories(root);
        Files.writeString(root.resolve("a.js"), "as classes");
        Files.writeString(root.resolveSibling("index.html"), "page");
        URL classes = directory.resolve("classes").toUri().toURL();
        try (var loader = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
                var own = TestServer.start(Pages.of(loader))) {
            assertThat(get(own, "/", "Accept", HTML).text()).isEqualTo("page");
            assertThat(get(own, "/assets/a.js").text()).isEqualTo("as classes");
        }
    }

    @Test
    void serverWithoutAConsoleServesOnlyTheApi() {
        try (var bare = TestServer.start(Pages.none())) {
            assertThat(get(bare, "/", "Accept", HTML).json().string("name")).isEqualTo("vivarium");
            assertThat(get(bare, "/console", "Accept", HTML).status()).isEqualTo(401);
            assertThat(get(bare, "/assets/app-1a2b.js").status()).isEqualTo(401);
        }
    }

    private static String raw(String path) throws IOException {
        return raw(path, server.uri().getAuthority());
    }

    /// Sends the path as written, which a client that normalizes paths cannot do.
    private static String raw(String path, String host) throws IOException {
        try (var socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
            String request =
                    "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: text/html\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static String header(Api.Answer answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static Api.Answer get(String path, String... headers) {
        return get(server, path, headers);
    }

    private static Api.Answer get(TestServer from, String path, String... headers) {
        var request = HttpRequest.newBuilder(from.uri().resolve(path));
        return Api.send((headers.length == 0 ? request : request.headers(headers)).GET());
    }
}
