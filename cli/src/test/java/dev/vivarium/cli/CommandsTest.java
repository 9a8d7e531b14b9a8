package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.http.Transport;
import dev.vivarium.testing.TestServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class CommandsTest {
    private static TestServer server;

    private final String thread = "cli-" + UUID.randomUUID();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private String input = "";

    @TempDir
    private Path scratch;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void clearOutput() {
        out.reset();
        err.reset();
    }

    @Test
    void execReturnsTheExitCodeAndOutput() {
        assertThat(viv("exec", thread, "--", "echo out; echo err >&2; exit 7")).isEqualTo(7);
        assertThat(out()).isEqualTo("out\n");
        assertThat(err()).isEqualTo("viv: created sandbox for thread " + thread + "\nerr\n");
    }

    @Test
    void argumentsReachTheProgramUnchanged() {
        assertThat(viv("exec", thread, "--", "printf", "[%s]", "two words", "$HOME", "-x"))
                .isZero();
        assertThat(out()).isEqualTo("[two words][$HOME][-x]");
    }

    @Test
    void execAcceptsEnvironmentDirectoryAndTimeout() {
        viv("exec", thread, "--", "mkdir sub");
        viv("exec", thread, "-w", "sub", "-e", "A=1", "-e", "B=x y", "--", "echo $A $B; basename $PWD");
        assertThat(out()).isEqualTo("1 x y\nsub\n");
        err.reset();
        assertThat(viv("exec", thread, "--timeout", "500ms", "--", "sleep 306")).isEqualTo(124);
        assertThat(err()).contains("exceeded its timeout of 500ms");
    }

    @Test
    void execWithJsonPrintsEvents() {
        viv("exec", thread, "--json", "--", "echo hi");

        assertThat(out().lines().map(line -> Json.answer(line).string("type")))
                .containsExactly("started", "stdout", "exit");
    }

    @Test
    void cpUploadsAndDownloadsFiles() throws Exception {
        Path file = Files.writeString(scratch.resolve("data.txt"), "some data");

        assertThat(viv("cp", file.toString(), thread + ":in/")).isZero();
        assertThat(viv("ls", thread)).isZero();
        assertThat(out()).contains("in/").doesNotContain("data.txt");
        assertThat(viv("ls", thread + ":in")).isZero();
        assertThat(out()).contains("data.txt");
        assertThat(viv("ls", "-R", thread)).isZero();
        assertThat(out()).contains("-rw-r--r--").contains("\t9\t").contains("in/data.txt");
        assertThat(viv(
                        "cp",
                        thread + ":in/data.txt",
                        scratch.resolve("back.txt").toString()))
                .isZero();
        assertThat(scratch.resolve("back.txt")).hasContent("some data");
        out.reset();
        assertThat(viv("cp", thread + ":in/data.txt", "-")).isZero();
        assertThat(out()).isEqualTo("some data");
    }

    @Test
    void cpKeepsTheExecutableBit() throws Exception {
        Path script = Files.writeString(scratch.resolve("run.sh"), "#!/bin/sh\necho ran\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        viv("cp", script.toString(), thread + ":");
        assertThat(viv("exec", thread, "--", "./run.sh")).isZero();
        viv("cp", thread + ":run.sh", scratch.resolve("back.sh").toString());
        assertThat(scratch.resolve("back.sh")).isExecutable();
        Path plain = Files.writeString(scratch.resolve("plain"), "#!/bin/sh\necho more\n");
        viv("cp", plain.toString(), thread + ":run.sh");
        assertThat(viv("exec", thread, "--", "./run.sh")).isZero();
    }

    @Test
    void cpUploadsStandardInput() {
        input = "from a pipe";
        assertThat(viv("cp", "-", thread + ":piped")).isZero();
        viv("exec", thread, "--", "cat piped");
        assertThat(out()).isEqualTo("from a pipe");
    }

    @Test
    void execForwardsStandardInput() {
        input = "b\na\n";
        assertThat(viv("exec", "-i", thread, "--", "sort; exit 3")).isEqualTo(3);
        assertThat(out()).isEqualTo("a\nb\n");
    }

    @Test
    void catPrintsAndRmDeletesFiles() {
        viv("exec", thread, "--", "mkdir d; printf 'a b' > 'd/x y'; printf c > z");
        assertThat(viv("cat", thread + ":d/x y", thread + ":z")).isZero();
        assertThat(out()).isEqualTo("a bc");
        assertThat(viv("rm", thread + ":z")).isZero();
        assertThat(viv("rm", thread + ":d")).isNotZero();
        assertThat(viv("rm", "-r", thread + ":d")).isZero();
        assertThat(viv("cat", thread + ":z")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(viv("rm", thread)).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void largeFileSurvivesARoundTrip() throws Exception {
        byte[] bytes = new byte[5_000_000];
        new Random(1).nextBytes(bytes);
        Path file = Files.write(scratch.resolve("large"), bytes);
        assertThat(viv("cp", file.toString(), thread + ":large")).isZero();
        assertThat(viv("cp", thread + ":large", scratch.resolve("back").toString()))
                .isZero();
        assertThat(scratch.resolve("back")).hasSameBinaryContentAs(file);
    }

    @Test
    void threadsListsThreadsWithTheirState() {
        viv("exec", thread, "--", "true");
        assertThat(viv("threads")).isZero();
        assertThat(out()).startsWith("THREAD\tOWNER\tROLE\tSTATE\tUSED\n").contains(thread);
        out.reset();
        assertThat(viv("threads", "-q")).isZero();
        assertThat(out().lines()).contains(thread);
    }

    @Test
    void ownerNamesTheThreadOfOneUser() {
        assertThat(viv("exec", "--user", "ann", thread, "--", "echo ann > file"))
                .isZero();
        assertThat(viv("exec", "--user", "ben", thread, "--", "cat file || echo ben > file"))
                .isZero();
        assertThat(viv("cat", "--owner", "ben", thread + ":file")).isZero();
        assertThat(out()).isEqualTo("ben\n");
        assertThat(viv("cat", thread + ":file")).isNotZero();
        assertThat(err()).contains("ann, ben").contains("--owner ann");
    }

    @Test
    void shareGrantsScopesUntilRemoved() {
        viv("exec", thread, "--", "echo secret > f");
        String ben = key("ben");
        assertThat(as(ben, "cat", thread + ":f")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(viv("share", thread, "ben")).isEqualTo(ExitCode.USAGE);
        assertThat(viv("share", thread, "ben", "--scope", "fs:ro")).isZero();
        out.reset();
        assertThat(as(ben, "cat", thread + ":f")).isZero();
        assertThat(out()).isEqualTo("secret\n");
        assertThat(as(ben, "rm", thread + ":f")).isEqualTo(ExitCode.DENIED);
        assertThat(as(ben, "exec", thread, "--", "true")).isEqualTo(ExitCode.EXEC_FAILED);
        assertThat(viv("share", thread)).isZero();
        assertThat(out()).contains("ben\tfs:ro");
        assertThat(viv("share", thread, "ben", "--remove")).isZero();
        assertThat(as(ben, "cat", thread + ":f")).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void tokenIsLimitedToItsScopes() throws Exception {
        viv("exec", thread, "--", "echo hi > f");
        assertThat(viv("token", thread, "--scope", "fs:ro", "--ttl", "1m", "--json"))
                .isZero();
        assertThat(viv("token", thread, "--scope", "fs:ro", "--ttl", "1h")).isEqualTo(ExitCode.USAGE);
        var made = Json.answer(out());
        var http = new Transport(URI.create(made.string("endpoint")), made.string("token"));
        try (var reply = http.send("GET", "/files/f", Map.of(), Transport.Body.none())) {
            assertThat(reply.status()).isEqualTo(200);
        }
        try (var reply = http.send("DELETE", "/files/f", Map.of(), Transport.Body.none())) {
            assertThat(reply.status()).isEqualTo(403);
        }
    }

    @Test
    void cachedTokensArePrivateAndRenewedAfterARejection() throws Exception {
        viv("exec", thread, "--", "true");
        Path passes = scratch.resolve("home/.local/state/viv/passes");
        Path cached;
        try (var files = Files.list(passes)) {
            cached = files.findFirst().orElseThrow();
        }
        assertThat(Files.getPosixFilePermissions(cached)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        String text = Files.readString(cached);
        Files.writeString(cached, text.replaceFirst("\"token\":\"[^\"]*", "\"token\":\"forged"));
        assertThat(viv("ls", thread)).isZero();
        assertThat(Files.readString(cached)).doesNotContain("forged");
    }

    @Test
    void logsPrintsAuditEntries() {
        viv("exec", thread, "--", "true");
        assertThat(viv("logs", thread, "--json")).isZero();
        assertThat(out().lines().map(line -> Json.answer(line).string("kind"))).isNotEmpty();
    }

    @Test
    void syncCopiesBothWaysAndReportsConflicts() throws Exception {
        Path here = Files.createDirectories(scratch.resolve("here"));
        Files.writeString(here.resolve("mine.txt"), "1");
        Path script = Files.writeString(here.resolve("run.sh"), "#!/bin/sh\necho ran\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        viv("exec", thread, "--", "mkdir sub; echo 2 > sub/theirs; ln -s /etc/passwd link");
        assertThat(viv("sync", thread, here.toString())).isZero();
        assertThat(here.resolve("sub/theirs")).hasContent("2");
        assertThat(here.resolve("link")).doesNotExist();
        out.reset();
        assertThat(viv("exec", thread, "--", "cat mine.txt; ./run.sh")).isZero();
        assertThat(out()).isEqualTo("1ran\n");

        Files.writeString(here.resolve("mine.txt"), "here");
        viv("exec", thread, "--", "echo there > mine.txt; rm sub/theirs");
        out.reset();
        assertThat(viv("sync", thread, here.toString())).isEqualTo(ExitCode.CONFLICT);
        assertThat(out()).contains("conflict  mine.txt").contains("delete-local  sub/theirs");
        assertThat(here.resolve("mine.txt")).hasContent("here");
        out.reset();
        assertThat(viv("cat", thread + ":mine.txt")).isZero();
        assertThat(out()).isEqualTo("there\n");
    }

    @Test
    void pauseAndResumeChangeTheState() {
        viv("exec", thread, "--", "true");
        assertThat(viv("pause", thread)).isZero();
        assertThat(viv("threads")).isZero();
        assertThat(out().lines()
                        .filter(line -> line.startsWith(thread))
                        .findFirst()
                        .orElseThrow())
                .contains("paused");
        assertThat(viv("resume", thread)).isZero();
        assertThat(viv("exec", thread, "--", "true")).isZero();
    }

    @Test
    void logsFollowsNewEntries() throws Exception {
        viv("exec", thread, "--", "true");
        var reader = new CliRunner(server, scratch.resolve("home"));
        var following = Thread.ofPlatform().name("viv-logs").start(() -> reader.viv("logs", "-f", thread));
        await().until(() -> reader.out().contains("/exec"));
        int seen = reader.out().length();
        viv("ls", thread);
        await().until(() -> reader.out().substring(seen).contains("GET /sandboxes/{sandbox_id}/files"));
        following.interrupt();
        following.join();
        assertThat(reader.out().lines().map(line -> line.split(" ")[0])).doesNotHaveDuplicates();
    }

    @Test
    void directoryIsRejectedWhereAFileIsNeeded() {
        viv("exec", thread, "--", "mkdir d; echo x > d/f");
        assertThat(viv("cat", thread + ":d")).isEqualTo(ExitCode.USAGE);
        assertThat(viv("cp", thread + ":d", scratch.resolve("d").toString())).isEqualTo(ExitCode.USAGE);
        assertThat(scratch.resolve("d")).doesNotExist();
        assertThat(viv("cp", scratch.toString(), thread + ":")).isEqualTo(ExitCode.USAGE);
        assertThat(out()).isEmpty();
        assertThat(err()).contains("'d' is a directory").contains("viv sync");
    }

    @Test
    void endTerminatesAndArchivesAThread() {
        viv("exec", thread, "--", "echo gone > f");
        assertThat(viv("end", thread)).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("--yes");
        assertThat(viv("end", thread, "--yes")).isZero();
        assertThat(viv("ls", thread)).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(viv("exec", thread, "--", "test ! -e f")).isZero();
        assertThat(viv("end", thread, "--archive", "--json", "--yes")).isZero();
        assertThat(Json.answer(out()).string("status")).isEqualTo("archived");
        out.reset();
        assertThat(viv("threads", "-q")).isZero();
        assertThat(out()).doesNotContain(thread);
        assertThat(viv("end", thread, "--yes")).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void missingThingsHaveTheirOwnExitCode() {
        assertThat(viv("ls", thread)).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(err())
                .startsWith("viv: the thread " + thread + " has no sandbox\n")
                .contains("viv threads");
        viv("exec", thread, "--", "true");
        assertThat(viv("cp", thread + ":no-such-file", "-")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(viv("cp", scratch.resolve("missing").toString(), thread + ":"))
                .isEqualTo(ExitCode.NOT_FOUND);
        assertThat(err()).contains("missing: no such file");
        assertThat(viv("cp", "a", "b")).isEqualTo(ExitCode.USAGE);
        assertThat(as("wrong-key-of-nobody", "ls", thread)).isEqualTo(ExitCode.NOT_SIGNED_IN);
    }

    @Test
    void keysAreIssuedListedAndRevoked() {
        assertThat(viv("keys", "issue", "carol", "--json")).isZero();
        var issued = Json.answer(out());
        out.reset();
        assertThat(viv("keys", "list")).isZero();
        assertThat(out()).contains(issued.string("key_id")).contains("carol").doesNotContain(issued.string("key"));
        assertThat(as(issued.string("key"), "health")).isZero();
        assertThat(as(issued.string("key"), "keys", "list")).isEqualTo(ExitCode.DENIED);
        assertThat(viv("keys", "revoke", issued.string("key_id"))).isZero();
        assertThat(as(issued.string("key"), "ls", thread)).isEqualTo(ExitCode.NOT_SIGNED_IN);
        assertThat(viv("keys", "revoke", issued.string("key_id"))).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void keyHasALabelAnExpiryAndALastUse() {
        assertThat(viv("keys", "issue", "dora", "--label", "build server", "--expires-in", "30d", "--json"))
                .isZero();
        var issued = Json.answer(out());
        out.reset();
        assertThat(viv("keys", "list")).isZero();
        assertThat(listed(issued.string("key_id"))).contains("\tnever\t").endsWith("\tdora\tbuild server");
        as(issued.string("key"), "threads");
        out.reset();
        assertThat(viv("keys", "list", "--json")).isZero();
        assertThat(listed(issued.string("key_id")))
                .contains("\"label\":\"build server\"")
                .contains("\"last_used_at\":")
                .contains("\"expires_at\":");
        assertThat(viv("keys", "issue", "dora", "--expires-in", "0s")).isNotZero();
        assertThat(err()).contains("expires_at must be in the future");
    }

    private String listed(String keyId) {
        return out().lines().filter(line -> line.contains(keyId)).findFirst().orElseThrow();
    }

    @Test
    void keyIsReadFromTheServerHome() {
        var env = Map.of(
                "VIV_SERVER", server.uri().toString(), "VIV_HOME", server.home().toString(), "VIV_USER", "alice");
        assertThat(main(env).run("exec", thread, "--", "true")).isZero();
    }

    @Test
    void healthPrintsOneLine() {
        assertThat(viv("health")).isZero();
        assertThat(out()).startsWith("healthy: version ");
    }

    @Test
    void keyCanComeFromStandardInput() {
        input = server.adminKey() + "\nthe rest";
        var env = Map.of("VIV_SERVER", server.uri().toString());
        assertThat(main(env).run("keys", "list", "--key-stdin")).isZero();
        assertThat(out()).startsWith("KEY\tCREATED\tUSED\tEXPIRES\tUSER\tLABEL\n");
    }

    @Test
    void keyCanComeFromAPrivateProfile() throws Exception {
        Path file = Files.writeString(
                scratch.resolve("config.toml"),
                "profile = \"here\"\n[profile.here]\nserver = \"" + server.uri() + "\"\nkey = \"" + server.adminKey()
                        + "\"\nuser = \"alice\" # me\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        var env = Map.of("VIV_CONFIG_FILE", file.toString());
        assertThat(main(env).run("exec", thread, "--", "true")).isZero();

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(main(env).run("exec", thread, "--", "true")).isEqualTo(ExitCode.EXEC_FAILED);
        assertThat(err()).contains("chmod 600").doesNotContain(server.adminKey());
    }

    @Test
    void doctorReportsServerIsolationAndKey() {
        assertThat(viv("doctor", "--json")).isZero();
        var found = out().lines()
                .map(Json::answer)
                .collect(Collectors.toMap(finding -> finding.string("check"), finding -> finding.string("verdict")));
        assertThat(found)
                .containsEntry("server", "ok")
                .containsEntry("clock", "ok")
                .containsEntry("version", "ok")
                .containsEntry("isolation", "warn")
                .containsEntry("key", "ok")
                .containsKeys("disks", "cgroups", "start-up");
    }

    @Test
    void doctorReportsAnInvalidKey() {
        assertThat(as("wrong-key-of-nobody", "doctor")).isEqualTo(ExitCode.FAILURE);
        assertThat(out()).contains("fail  key").contains("viv keys issue");
    }

    private String key(String user) {
        out.reset();
        viv("keys", "issue", user);
        String key = out().strip();
        out.reset();
        return key;
    }

    private int viv(String... args) {
        return as(server.adminKey(), args);
    }

    private int as(String key, String... args) {
        return main(Map.of("VIV_SERVER", server.uri().toString(), "VIV_API_KEY", key))
                .run(args);
    }

    private Main main(Map<String, String> env) {
        var all = new HashMap<>(env);
        all.put("HOME", scratch.resolve("home").toString());
        return new Main(new Terminal(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                all,
                Terminal.Ttys.NONE));
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
