package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Guarantees of isolated sandboxes through the API. Needs root.
@Tag("root")
class IsolatedApiTest {
    private static TestServer server;
    private static Api api;
    private String session;

    @BeforeAll
    static void start() {
        server = TestServer.startIsolated(
                "--memory-mb", "128", "--processes", "64", "--disk-mb", "64", "--cpus", "1", "--pool-size", "1");
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        session = api.session();
    }

    @Test
    void commandsRunAsTheSandboxUserInTheWorkspace() {
        assertThat(api.execute(session, "id -un; pwd; echo $HOME; echo x > f; stat -c %U f")
                        .string("stdout"))
                .isEqualTo("sandboxuser\n/workspace\n/workspace\nsandboxuser\n");
    }

    @Test
    void memoryExhaustionKillsOnlyTheCommand() {
        var result = run("python3 -c 'x = bytearray(1 << 30)' || tail /dev/zero", 30);

        assertThat(result.integer("exit_code")).isNotZero();
        assertAlive();
    }

    @Test
    void outOfMemoryKillIsReported() {
        var result = run("exec tail /dev/zero", 60);

        assertThat(result.string("cause")).isEqualTo("oom");
        assertThat(result.integer("exit_code")).isEqualTo(137);
        assertAlive();
    }

    @Test
    void outOfMemoryKillInASubshellOrPipeIsReported() {
        var subshell = run("(tail /dev/zero); exit $?", 60);
        assertThat(subshell.string("cause")).isEqualTo("oom");
        assertThat(subshell.integer("exit_code")).isEqualTo(137);

        var pipe = run("tail /dev/zero | cat", 60);
        assertThat(pipe.string("cause")).isEqualTo("oom");
        assertThat(pipe.integer("exit_code")).isZero();

        assertThat(run("true", 60).string("cause")).isEqualTo("exited");
        assertAlive();
    }

    /// The shell keeps running, so the fork bomb belongs to the command and dies at its timeout. A background
    /// process would survive the command.
    @Test
    void forkBombIsBoundedAndKilled() {
        var result = run("f() { f | f & }; f; while :; do sleep 1; done", 2);

        assertThat(result.flag("timed_out")).isTrue();
        await().ignoreExceptions().untilAsserted(this::assertAlive);
    }

    @Test
    void diskLimitIsEnforcedByTheKernel() {
        var result = run("head -c 500M /dev/zero > fill; echo $?; stat -c %s fill", 60);

        String[] lines = result.string("stdout").strip().split("\n");
        assertThat(lines[0]).isNotEqualTo("0");
        assertThat(Long.parseLong(lines[1])).isLessThan(64L << 20);
        assertThat(api.upload(session, "more", "x".repeat(1_000_000)).status()).isEqualTo(507);
        // The kernel frees the space shortly after the deletion.
        assertThat(run("rm fill; until echo free 2>/dev/null > after; do sleep 0.1; done; cat after", 60)
                        .string("stdout"))
                .isEqualTo("free\n");
    }

    @Test
    void commandThatIgnoresSigtermIsKilled() {
        var result = run("trap '' TERM INT HUP; while :; do sleep 1; done", 1);

        assertThat(result.string("cause")).isEqualTo("timeout");
        assertAlive();
    }

    @Test
    void hostIsUnreachable() throws IOException {
        Path canary = Files.writeString(server.home().resolve("canary"), "unharmed");

        run(
                "cat " + canary + "; echo harmed > " + canary + "; rm -rf " + server.home() + "; rm -rf /* 2>/dev/null",
                20);
        var network = run("cat /proc/net/dev | tail -n +3 | grep -vc lo: ; ls /sys/class/net", 60);

        assertThat(canary).hasContent("unharmed");
        assertThat(network.string("stdout")).startsWith("0\n");
    }

    @Test
    void limitsOfASessionAreEnforced() {
        String id = api.post(
                        "/create_session",
                        "{\"user_id\":\"u\",\"thread_id\":\"" + Api.thread()
                                + "\",\"limits\":{\"processes\":24,\"memory_mb\":64}}")
                .json()
                .string("session_id");

        // The children stay until all forks are done, on a slow host too.
        var result = api.execute(id, """
                perl -e 'END { kill 9, @all } for (1..60) { my $one = fork() // die "no fork after $_: $!"; \
                exec "sleep", "1000" unless $one; push @all, $one }'
                """);

        assertThat(result.string("stderr")).contains("no fork after");
    }

    private JsonFields run(String command, int timeout) {
        return api.post("/execute", Api.command(session, command, "\"timeout\":" + timeout))
                .json();
    }

    private void assertAlive() {
        assertThat(api.execute(session, "echo alive").string("stdout")).isEqualTo("alive\n");
    }
}
