package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.Command;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A hostile program and a hostile client against a whole server. The tests check a canary file on the host, a
/// neighbouring sandbox that must stay responsive, and the traces left after cleanup; never an error code alone. Needs
/// root.
@Tag("root")
class EscapeTest {
    private static final String CANARY = "CANARY-OF-THE-HOST";
    private static final int RACERS = 4;
    /// Both streams of a command at their limit, as JSON, where a line break takes two characters.
    private static final int MAX_OUTPUT = 4 * (int) Command.OUTPUT_LIMIT;
    private static final Duration RACE = Duration.ofSeconds(4);
    private static final Duration RACE_TIMEOUT = Duration.ofMinutes(1);

    private static TestServer server;

    private final Api api = server.api();
    private Path canary;
    private String session;
    private String neighbour;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated("--memory-mb", "128", "--processes", "64", "--disk-mb", "64");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() throws IOException {
        canary = Files.createDirectory(server.home().resolve("canary"));
        Files.writeString(canary.resolve("secret"), CANARY);
        session = api.session();
        neighbour = api.session();
    }

    @AfterEach
    void assertHostIsUnharmedAndCleanedUp() throws IOException {
        assertThat(api.get("/health").status()).isEqualTo(200);
        assertThat(api.execute(neighbour, "echo $((6 * 7))").string("stdout")).isEqualTo("42\n");
        assertUnharmed(canary);
        for (String id : List.of(session, neighbour)) {
            assertThat(api.post("/cleanup", "{\"session_id\":\"" + id + "\"}").status())
                    .isEqualTo(200);
            await().untilAsserted(() ->
                    assertThat(HostTraces.of(new SandboxId(id), server.home())).isEmpty());
        }
        Files.delete(canary.resolve("secret"));
        Files.delete(canary);
    }

    private static void assertUnharmed(Path canary) throws IOException {
        try (var entries = Files.list(canary)) {
            assertThat(entries).containsExactly(canary.resolve("secret"));
        }
        assertThat(canary.resolve("secret")).hasContent(CANARY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "%s/secret",
                "../../../../../../../..%s/secret",
                "a/../../../../../../../..%s/secret",
                "/proc/1/root%s/secret",
                "/proc/self/root%s/secret",
                "..%%2f..%%2f..%s/secret",
                "....//....//..%s/secret",
                "link/secret",
                "root%s/secret",
                "up%s/secret",
                "proc/root%s/secret",
                "chain/secret",
                "file"
            })
    void noPathEscapesTheWorkspace(String pattern) {
        api.execute(session, """
                ln -s %1$s link; ln -s / root; ln -s ../../../../../../.. up; ln -s /proc/1 proc
                ln -s link chain; ln -s %1$s/secret file; ln %1$s/secret hard; cp %1$s/secret copy
                """.formatted(canary));
        String path = pattern.formatted(canary);

        var read = api.download(session, path);
        var written = api.upload(session, path, "pwned");

        assertThat(read.status()).isIn(400, 403, 404);
        assertThat(read.text()).doesNotContain(CANARY);
        // An upload replaces a link and does not follow it.
        assertThat(written.status()).isIn(200, 400, 403, 404);
        assertThat(api.download(session, "hard").text()).doesNotContain(CANARY);
        assertThat(api.download(session, "copy").text()).doesNotContain(CANARY);
    }

    private enum Isolation {
        /// The program shares the file system of the host, so only path resolution protects the host.
        NONE,
        ALL
    }

    /// During the calls, a program keeps swapping a directory for a link that leaves the workspace.
    @ParameterizedTest
    @EnumSource
    void swappedLinkNeverEscapesTheWorkspace(Isolation isolation) throws Exception {
        if (isolation == Isolation.ALL) {
            race(server, session);
            return;
        }
        try (var plain = TestServer.start()) {
            race(plain, plain.api().session());
        }
    }

    private void race(TestServer target, String racer) throws Exception {
        var calls = target.api();
        calls.execute(racer, """
                mkdir d; echo decoy > d/secret; ln -s %s l
                perl -e 'my ($d, $l) = ("d", "l"); syscall(316, -100, $d, -100, $l, 2) while 1' > /dev/null 2>&1 &
                echo $! > flipper
                """.formatted(canary));
        var seen = new AtomicInteger();
        long start = System.nanoTime();
        Callable<Void> attack = () -> {
            // On a busy host, the race continues until at least one read succeeded.
            for (int i = 0; System.nanoTime() - start < (seen.get() > 0 ? RACE : RACE_TIMEOUT).toNanos(); i++) {
                var read = calls.download(racer, "d/secret");
                assertThat(read.text()).doesNotContain(CANARY);
                seen.addAndGet(read.text().equals("decoy\n") ? 1 : 0);
                assertThat(calls.upload(racer, "d/x" + i % 8, "pwned").status()).isIn(200, 400, 404, 409, 503);
                assertThat(calls.upload(racer, "d/deep/er/x", "pwned").status()).isIn(200, 400, 404, 409, 503);
                assertThat(calls.get("/list_files?session_id=" + racer).text()).doesNotContain(CANARY);
            }
            return null;
        };
        all(IntStream.range(0, RACERS).mapToObj(i -> attack));
        calls.execute(racer, "kill $(cat flipper)");
        assertThat(seen).as("files read while they moved").hasPositiveValue();
        assertUnharmed(canary);
    }

    private static void all(Stream<Callable<Void>> work) throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Void> done : workers.invokeAll(work.toList())) {
                done.get();
            }
        }
    }

    @Test
    void specialFilesAreRejected() {
        api.execute(session, """
                mkfifo fifo; ln -s /dev/zero zero; ln -s fifo to-fifo; ln -s loop loop
                perl -MSocket -e 'socket($s, AF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un("socket"))'
                """);
        for (String name : List.of("fifo", "zero", "to-fifo", "loop", "socket", "")) {
            assertThat(api.download(session, name).status()).as(name).isIn(400, 403, 404);
        }
        assertThat(api.get("/list_files?session_id=" + session).status()).isEqualTo(200);
    }

    /// Uses the neighbour during the attack and, as after every test, at the end.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "bomb() { bomb | bomb & }; bomb > /dev/null 2>&1; sleep 2",
                "for i in 1 2 3 4; do perl -e '$x = \"x\" x (400 << 20)' & done; wait",
                "while :; do head -c 100M /dev/zero > big$((i++)); : > small$i; done 2> /dev/null",
                "head -c 300M /dev/zero | tr '\\0' y; yes >&2",
                "for i in 1 2 3 4 5 6 7 8; do yes > /dev/null & done; wait",
                "perl -e 'while (1) { open $f[$n++], \"/dev/null\" or fork }'"
            })
    void resourceExhaustionDoesNotAffectTheNeighbour(String attack) throws Exception {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var attacker = workers.submit(() -> api.post("/execute", Api.command(session, attack, "\"timeout\":3")));
            assertThat(api.execute(neighbour, "head -c 20M /dev/zero > mine && /bin/echo room")
                            .string("stdout"))
                    .isEqualTo("room\n");
            assertThat(attacker.get().status()).isEqualTo(200);
            assertThat(attacker.get().bytes().length).isLessThan(MAX_OUTPUT);
        }
    }

    @Test
    void processesThatIgnoreSignalsAreKilledAtTheTimeLimit() {
        var ended = api.post("/execute", Api.command(session, """
                        trap '' TERM INT HUP QUIT PIPE ALRM USR1 USR2
                        (setsid nohup sleep 4321 > /dev/null 2>&1 &); (setsid sleep 4321 & disown); sleep 4321
                        """, "\"timeout\":0.5"));
        assertThat(ended.json().integer("exit_code")).isEqualTo(124);
        await().until(() -> api.execute(session, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
                .string("stdout")
                .lines()
                .noneMatch(line -> line.contains("sleep 4321")));
    }

    /// The program may stop its own guest. It must stop neither another sandbox nor the cleanup.
    @Test
    void stoppingAllProcessesAffectsOnlyTheOwnSandbox() {
        api.post(
                "/execute",
                Api.command(session, "(perl -e 'kill 19, -1 while 1' &) > /dev/null 2>&1; true", "\"timeout\":2"));
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            IntStream.range(0, 20)
                    .forEach(i ->
                            workers.submit(() -> api.post("/execute", Api.command(session, "true", "\"timeout\":1"))));
            assertThat(api.execute(neighbour, "echo free").string("stdout")).isEqualTo("free\n");
            assertThat(api.post("/cleanup", "{\"session_id\":\"" + session + "\"}")
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    void secretsAppearNeitherInTheSandboxNorInArguments() {
        String inside = api.execute(session, "cat /proc/*/environ /proc/*/cmdline /proc/mounts; env; mount")
                .string("stdout");
        assertThat(inside).contains("sandbox-disk").doesNotContain(server.adminKey(), "VIV_");
        assertThat(api.execute(session, "find / -xdev -name credentials -o -name '*.db' 2> /dev/null")
                        .string("stdout"))
                .isEmpty();
        var arguments = ProcessHandle.allProcesses()
                .map(process -> process.info().commandLine())
                .flatMap(Optional::stream)
                .toList();
        assertThat(arguments).noneMatch(line -> line.contains(server.adminKey()) || line.contains("VIV_SECRET"));
    }

    @Test
    void homeIsReadableOnlyByItsOwner() throws IOException {
        for (String name : List.of("credentials", "vivarium.db", "run", "disks", "images")) {
            assertThat(Files.getPosixFilePermissions(server.home().resolve(name)))
                    .as(name)
                    .allMatch(permission -> permission.name().startsWith("OWNER_"));
        }
    }
}
