package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients that request large responses and do not read them, against a server with a small heap.
@Timeout(180)
class MemoryBudgetTest {
    private static final List<String> SMALL_HEAP = List.of("-Xmx192m", "-XX:+ExitOnOutOfMemoryError");

    /// The names have a hundred characters, so a listing takes some ten megabytes.
    private static final String MANY_FILES = "seq -f 'file-%095.0f' 1 50000 | xargs touch; ls | wc -l";

    private static Path home;
    private static ServerProcess server;
    private static Api attacker;
    private static String attacked;

    @BeforeAll
    static void start() throws IOException {
        home = Files.createTempDirectory("viv-memory").toRealPath();
        server = ServerProcess.startWith(
                SMALL_HEAP,
                home,
                "--provider",
                "process",
                "--rate-limits",
                "off",
                "--max-command-timeout-seconds",
                "120");
        attacker = server.api().as("mallory");
        attacked = session(attacker, "mallory");
    }

    @AfterAll
    static void stop() throws IOException {
        server.close();
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
    }

    @Test
    void unreadListingsDoNotBlockOtherClients() throws Exception {
        Api victim = server.api().as("victim");
        String session = session(victim, "victim");
        attacker.execute(attacked, MANY_FILES);
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < 80; i++) {
                sockets.add(getWithoutReading("/sandboxes/" + attacked + "/files/?recursive=true"));
            }
            for (Socket socket : sockets) {
                await().until(() -> socket.getInputStream().available() > 0);
            }
            for (int i = 0; i < 10; i++) {
                assertThat(victim.execute(session, "echo here").string("stdout"))
                        .isEqualTo("here\n");
            }
            assertThat(sockets.stream().map(MemoryBudgetTest::status).distinct())
                    .isSubsetOf("200", "503");
        } finally {
            sockets.forEach(MemoryBudgetTest::close);
        }
        assertThat(victim.execute(session, "echo still").string("stdout")).isEqualTo("still\n");
        await().until(() -> inFlight() == 0);
    }

    @Test
    void longOutputsAreReturnedOrRejected() throws Exception {
        String body = Api.command(attacked, "head -c 20971520 /dev/zero | tr '\\0' x", "\"timeout\": 120");
        Callable<Outcome> call = () -> post(body);
        List<Outcome> answers = new ArrayList<>();
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Outcome> answer :
                    workers.invokeAll(IntStream.range(0, 40).mapToObj(_ -> call).toList())) {
                answers.add(answer.get());
            }
        }
        assertThat(answers).extracting(Outcome::status).contains(200).isSubsetOf(200, 503);
        assertThat(answers)
                .filteredOn(answer -> answer.status() == 200)
                .allSatisfy(answer -> assertThat(answer.bytes()).isGreaterThan(10L * 1024 * 1024));
        assertThat(answers)
                .filteredOn(answer -> answer.status() == 503)
                .allSatisfy(answer ->
                        assertThat(answer.headers().firstValue("Retry-After")).isPresent());
        assertThat(server.isAlive()).isTrue();
        await().until(() -> inFlight() == 0);
    }

    /// Status, length and headers of a response.
    private record Outcome(int status, long bytes, HttpHeaders headers) {}

    private static Outcome post(String body) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(server.uri().resolve("/execute"))
                    .header("Authorization", "Bearer " + attacker.key())
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(body))
                    .build();
            var answer = client.send(request, BodyHandlers.ofInputStream());
            try (var in = answer.body()) {
                return new Outcome(
                        answer.statusCode(), in.transferTo(OutputStream.nullOutputStream()), answer.headers());
            }
        }
    }

    private static String session(Api api, String user) {
        return api.post("/create_session", "{\"user_id\":\"" + user + "\",\"thread_id\":\"" + Api.thread() + "\"}")
                .json()
                .string("session_id");
    }

    private static Socket getWithoutReading(String path) throws IOException {
        URI uri = server.uri();
        var socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
        String request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + attacker.key() + "\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String status(Socket socket) {
        try {
            return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII).substring(9);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Bytes in flight as the server's metrics report them.
    private static double inFlight() {
        return server.api()
                .get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith("vivarium_memory_in_flight_bytes"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }
}
