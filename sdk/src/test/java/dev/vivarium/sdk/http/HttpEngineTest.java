package dev.vivarium.sdk.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.engine.Content;
import dev.vivarium.sdk.engine.Session;
import dev.vivarium.sdk.http.ScriptedServer.Peer;
import dev.vivarium.sdk.http.ScriptedServer.Script;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(300)
class HttpEngineTest {
    private static final String JSON = "application/json";
    private static final SandboxId ID = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final NewSandbox REQUEST = NewSandbox.of(new UserId("alice"), new ThreadId("t 1"));
    private static final Command COMMAND = Command.shell("true").withTimeout(Duration.ofSeconds(1));
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Exit EXIT =
            new Exit(Exit.Cause.EXITED, 3, Duration.ofMillis(5), Duration.ZERO, Duration.ZERO, 1024, 2, 0);

    @Test
    void existingSessionIsReturned() throws Exception {
        try (var server = answering(409, JSON, session("existing"));
                var engine = engine(server.uri())) {
            assertThat(engine.open(REQUEST).origin()).isEqualTo(Session.Origin.EXISTING);
        }
    }

    @Test
    void newSessionIsMarkedAsNew() throws Exception {
        try (var server = answering(201, JSON, session("created"));
                var engine = engine(server.uri())) {
            var opened = engine.open(REQUEST);

            assertThat(opened.isNew()).isTrue();
            assertThat(opened.info()).isEqualTo(info());
        }
    }

    @Test
    void conflictWithAProblemIsAFailure() throws Exception {
        var failure = new Failure.SandboxNotRunning(ID, Status.PAUSED);
        try (var server = refusing(failure);
                var engine = engine(server.uri())) {
            assertThat(failureOf(() -> engine.open(REQUEST))).isEqualTo(failure);
        }
    }

    @Test
    void threadWithoutASandboxIsEmpty() throws Exception {
        try (var server = refusing(new Failure.NoSandboxForThread(REQUEST.thread()));
                var engine = engine(server.uri())) {
            assertThat(engine.find(REQUEST.thread())).isEmpty();
        }
    }

    @Test
    void keyIsSentWithEveryCallAndNeverPrinted() throws Exception {
        var heads = new LinkedBlockingQueue<List<String>>();
        try (var server = ScriptedServer.of(peer -> {
                    heads.add(peer.head());
                    peer.answer(200, JSON, session("active"));
                });
                var engine = engine(server.uri())) {
            engine.find(REQUEST.thread());

            assertThat(heads.take())
                    .contains("Authorization: Bearer e2b_secret")
                    .anyMatch(line -> line.equals("GET /get_session?thread_id=t%201 HTTP/1.1"));
            assertThat(RemoteConfig.of(server.uri(), "e2b_secret").toString()).doesNotContain("secret");
        }
    }

    @Test
    void oneConnectionServesManyCalls() throws Exception {
        var connections = new LinkedBlockingQueue<Peer>();
        try (var server = ScriptedServer.of(peer -> {
                    connections.add(peer);
                    while (true) {
                        peer.body(peer.head());
                        peer.answer(200, JSON, result());
                    }
                });
                var engine = engine(server.uri())) {
            for (int i = 0; i < 5; i++) {
                assertThat(engine.execute(ID, COMMAND).exitCode()).isEqualTo(3);
            }
            assertThat(connections).hasSize(1);
        }
    }

    @Test
    void responseOfAnotherServerIsRejected() throws Exception {
        try (var server = answering(200, "text/html", "<html>hello</html>");
                var engine = engine(server.uri())) {
            assertThat(failureOf(() -> engine.list(ID)).sentence())
                    .contains("did not send a valid response of this API");
        }
    }

    @Test
    void proxyErrorPageKeepsItsStatus() throws Exception {
        try (var server = answering(504, "text/html", "<html>gateway timeout</html>");
                var engine = engine(server.uri())) {
            assertThat(failureOf(() -> engine.execute(ID, COMMAND)))
                    .isInstanceOfSatisfying(
                            Failure.Unrecognized.class,
                            f -> assertThat(f.status()).isEqualTo(504));
        }
    }

    @Test
    void missingServerIsUnreachable() throws Exception {
        URI unused;
        try (var socket = new ServerSocket(0)) {
            unused = URI.create("http://127.0.0.1:" + socket.getLocalPort());
        }
        try (var engine = engine(unused)) {
            assertThat(failureOf(() -> engine.list(ID)))
                    .isEqualTo(new Failure.ServerUnreachable(unused.toString(), "the connection was refused"));
        }
    }

    @Test
    void silentServerTimesOut() throws Exception {
        try (var server = ScriptedServer.of(Peer::awaitDisconnect);
                var engine = withShortTimeout(server.uri())) {
            assertThat(failureOf(() -> engine.list(ID))).isInstanceOf(Failure.ServerUnreachable.class);
        }
    }

    @Test
    void silenceInsideABodyTimesOut() throws Exception {
        Script half = peer -> {
            peer.head();
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
            peer.awaitDisconnect();
        };
        try (var server = ScriptedServer.of(half);
                var engine = withShortSilence(server.uri())) {
            assertThat(failureOf(() -> engine.list(ID)).sentence()).contains("no data for");
        }
    }

    @Test
    void brokenConnectionInsideAResponseIsReported() throws Exception {
        Script half = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
        };
        try (var server = ScriptedServer.of(half);
                var engine = engine(server.uri())) {
            assertThat(failureOf(() -> engine.execute(ID, COMMAND)).sentence()).contains("the connection broke");
        }
    }

    @ParameterizedTest
    @MethodSource("threads")
    void interruptedCallEndsAndKeepsTheInterruptFlag(Thread.Builder thread) throws Exception {
        var arrived = new CountDownLatch(1);
        var disconnected = new CountDownLatch(1);
        var thrown = new AtomicReference<Throwable>();
        var flag = new AtomicReference<Boolean>();
        Script silent = peer -> {
            peer.body(peer.head());
            arrived.countDown();
            peer.awaitDisconnect();
            disconnected.countDown();
        };
        try (var server = ScriptedServer.of(silent);
                var engine = engine(server.uri())) {
            Thread worker = thread.start(() -> {
                thrown.set(catchThrowable(() -> engine.execute(ID, COMMAND)));
                flag.set(Thread.currentThread().isInterrupted());
            });
            arrived.await();
            worker.interrupt();
            worker.join();

            assertThat(thrown.get()).isInstanceOf(CancellationException.class);
            assertThat(flag.get()).isTrue();
            disconnected.await();
        }
    }

    @ParameterizedTest
    @MethodSource("threads")
    void interruptedReaderOfARunEndsAndKeepsTheInterruptFlag(Thread.Builder thread) throws Exception {
        var reading = new CountDownLatch(1);
        var disconnected = new CountDownLatch(1);
        var thrown = new AtomicReference<Throwable>();
        var flag = new AtomicReference<Boolean>();
        Script silent = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n");
            peer.send(line(out -> ExecJson.started(out, 7)));
            peer.awaitDisconnect();
            disconnected.countDown();
        };
        try (var server = ScriptedServer.of(silent);
                var engine = engine(server.uri());
                var run = engine.start(ID, COMMAND)) {
            Thread worker = thread.start(() -> {
                run.next();
                reading.countDown();
                thrown.set(catchThrowable(run::next));
                flag.set(Thread.currentThread().isInterrupted());
            });
            reading.await();
            worker.interrupt();
            worker.join();

            assertThat(thrown.get()).isInstanceOf(CancellationException.class);
            assertThat(flag.get()).isTrue();
            disconnected.await();
        }
    }

    static List<Thread.Builder> threads() {
        return List.of(Thread.ofVirtual(), Thread.ofPlatform());
    }

    @Test
    void closingARunWakesItsReader() throws Exception {
        var reading = new CountDownLatch(1);
        var thrown = new AtomicReference<Throwable>();
        Script silent = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n");
            peer.send(line(out -> ExecJson.started(out, 7)));
            peer.awaitDisconnect();
        };
        try (var server = ScriptedServer.of(silent);
                var engine = engine(server.uri());
                var run = engine.start(ID, COMMAND)) {
            Thread reader = Thread.ofPlatform().start(() -> {
                run.next();
                reading.countDown();
                thrown.set(catchThrowable(run::next));
            });
            reading.await();
            run.close();
            reader.join();

            assertThat(thrown.get()).isInstanceOf(SandboxException.class);
        }
    }

    @Test
    void eventsArriveWhileTheCommandRuns() throws Exception {
        var proceed = new CountDownLatch(1);
        Script streaming = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n");
            peer.send(line(out -> ExecJson.started(out, 7)));
            peer.send(line(ExecJson::keepAlive));
            peer.send(line(out -> ExecJson.output(out, ExecEvent.Stream.STDERR, "grüße")));
            proceed.await();
            peer.send(line(out -> ExecJson.exited(out, EXIT, false)));
        };
        try (var server = ScriptedServer.of(streaming);
                var engine = engine(server.uri());
                var run = engine.start(ID, COMMAND)) {
            assertThat(run.next()).isEqualTo(new ExecEvent.Started(7));
            assertThat(run.next()).isInstanceOfSatisfying(ExecEvent.Output.class, output -> {
                assertThat(output.stream()).isEqualTo(ExecEvent.Stream.STDERR);
                assertThat(output.bytes()).isEqualTo("grüße".getBytes(StandardCharsets.UTF_8));
            });
            proceed.countDown();
            assertThat(run).containsExactly(new ExecEvent.Exited(EXIT));
            assertThatThrownBy(run::next).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void failureInsideAStreamIsRethrown() throws Exception {
        var failure = new Failure.GuestUnreachable(ID, "it is gone");
        Script lost = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n");
            peer.send(line(out -> ExecJson.failed(out, failure)));
        };
        try (var server = ScriptedServer.of(lost);
                var engine = engine(server.uri());
                var run = engine.start(ID, COMMAND)) {
            assertThat(failureOf(run::next)).isEqualTo(failure);
        }
    }

    @Test
    void brokenStreamFailsTheCommand() throws Exception {
        Script broken = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n");
            peer.send(line(out -> ExecJson.started(out, 7)));
        };
        try (var server = ScriptedServer.of(broken);
                var engine = engine(server.uri());
                var run = engine.start(ID, COMMAND)) {
            run.next();
            assertThat(failureOf(run::next).sentence()).contains("broke off while the command ran");
        }
    }

    @Test
    void closingARunClosesTheConnection() throws Exception {
        var disconnected = new CountDownLatch(1);
        Script streaming = peer -> {
            peer.body(peer.head());
            peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n");
            peer.send(line(out -> ExecJson.started(out, 7)));
            peer.awaitDisconnect();
            disconnected.countDown();
        };
        try (var server = ScriptedServer.of(streaming);
                var engine = engine(server.uri())) {
            try (var run = engine.start(ID, COMMAND)) {
                run.next();
            }
            disconnected.await();
        }
    }

    @Test
    void fileNameIsSentUnchanged() throws Exception {
        BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
        try (var server = ScriptedServer.of(peer -> {
                    var head = peer.head();
                    peer.send("HTTP/1.1 100 Continue\r\n\r\n");
                    bodies.add(peer.body(head));
                    peer.answer(507, ProblemJson.CONTENT_TYPE, problem(new Failure.TooManyFiles(1, 1)));
                });
                var engine = engine(server.uri())) {
            String name = "a \"quoted\"\nname; filename=x";
            failureOf(() -> engine.upload(ID, name, new Content.OfStream(InputStream.nullInputStream())));

            assertThat(bodies.take()).contains("\r\n\r\n" + name + "\r\n--");
        }
    }

    @Test
    void largeUploadWaitsForContinueAndReceivesARejection() throws Exception {
        var failure = new Failure.FileTooLarge(100, 200);
        Script refusing = peer -> {
            if (peer.head().contains("Expect: 100-Continue")) {
                peer.answer(413, ProblemJson.CONTENT_TYPE, problem(failure));
            }
            peer.awaitDisconnect();
        };
        try (var server = ScriptedServer.of(refusing);
                var engine = engine(server.uri())) {
            assertThat(failureOf(() -> engine.upload(ID, "zeros", new Content.OfStream(new Zeros()))))
                    .isEqualTo(failure);
        }
    }

    @Test
    void serverThatReadsNothingTimesOut() throws Exception {
        var finished = new CountDownLatch(1);
        try (var server = ScriptedServer.of(peer -> {
                    peer.head();
                    peer.send("HTTP/1.1 100 Continue\r\n\r\n");
                    finished.await();
                });
                var engine = withShortSilence(server.uri())) {
            assertThat(failureOf(() -> engine.upload(ID, "zeros", new Content.OfStream(new Zeros())))
                            .sentence())
                    .contains("accepted no data for");
            finished.countDown();
        }
    }

    @Test
    void failedSourceIsReportedAsTheCallersException() throws Exception {
        try (var server = ScriptedServer.of(peer -> {
                    var head = peer.head();
                    peer.send("HTTP/1.1 100 Continue\r\n\r\n");
                    peer.body(head);
                });
                var engine = engine(server.uri())) {
            var broken = new InputStream() {
                @Override
                public int read() throws IOException {
                    throw new IOException("the tape is torn");
                }
            };
            assertThatThrownBy(() -> engine.upload(ID, "x", new Content.OfStream(broken)))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("the tape is torn");
            assertThatThrownBy(() -> engine.upload(ID, "x", new Content.OfFile(Path.of("no-such-file"))))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasCauseInstanceOf(NoSuchFileException.class);
        }
    }

    private static HttpEngine engine(URI server) {
        return new HttpEngine(RemoteConfig.of(server, "e2b_secret"));
    }

    private static HttpEngine withShortTimeout(URI server) {
        return new HttpEngine(RemoteConfig.of(server, "e2b_secret").withAnswer(SHORT));
    }

    /// Long timeout for the start of a response, and a short timeout inside it.
    private static HttpEngine withShortSilence(URI server) {
        return new HttpEngine(RemoteConfig.of(server, "e2b_secret")
                .withAnswer(Duration.ofMinutes(2))
                .withSilence(SHORT));
    }

    private static ScriptedServer answering(int status, String type, String body) throws IOException {
        return ScriptedServer.of(peer -> {
            var head = peer.head();
            if (head.getFirst().startsWith("POST")) {
                peer.body(head);
            }
            peer.answer(status, type, body);
        });
    }

    private static ScriptedServer refusing(Failure failure) throws IOException {
        return answering(ProblemJson.status(failure), ProblemJson.CONTENT_TYPE, problem(failure));
    }

    private static Failure failureOf(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        return ((SandboxException) catchThrowable(call)).failure();
    }

    private static SandboxInfo info() {
        var time = Instant.parse("2026-01-01T10:00:00Z");
        return new SandboxInfo(
                ID,
                REQUEST.thread(),
                REQUEST.user(),
                Status.RUNNING,
                Limits.STANDARD,
                time,
                time,
                time.plusSeconds(1800),
                time.plusSeconds(86_400),
                OnIdle.END,
                Optional.empty(),
                Optional.empty());
    }

    private static String session(String status) {
        var found = SessionJson.Found.valueOf(status.toUpperCase(java.util.Locale.ROOT));
        return text(out -> SessionJson.SESSION.writeFields(out, new SessionJson.Session(info(), found)));
    }

    private static String result() {
        var output = new ExecJson.Output(ExecJson.Text.of(""), ExecJson.Text.of(""), false);
        return text(out -> ExecJson.RESULT.writeFields(out, new ExecJson.Ended(EXIT, output)));
    }

    private static String problem(Failure failure) {
        return text(out -> ProblemJson.write(out, failure));
    }

    private static String line(java.util.function.Consumer<tools.jackson.core.JsonGenerator> fields) {
        return text(fields) + "\n";
    }

    private static String text(java.util.function.Consumer<tools.jackson.core.JsonGenerator> fields) {
        return new String(Json.bytes(fields), StandardCharsets.UTF_8);
    }

    /// Endless input.
    private static final class Zeros extends InputStream {
        @Override
        public int read() {
            return 0;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            return length;
        }
    }
}
