package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.Json;
import dev.vivarium.testing.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `viv shell` on a real terminal with a real server and a relay that can be interrupted.
@Timeout(300)
class ShellCommandTest {
    private static TestServer server;

    private final String thread = "shell-" + UUID.randomUUID();

    @TempDir
    private Path home;

    private Relay relay;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void connect() {
        relay = new Relay(server.uri());
    }

    @AfterEach
    void disconnect() {
        relay.close();
    }

    @Test
    void shellForwardsInputAndOutputAndReturnsTheExitCode() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("echo $((40 + 2))-ü; stty size\r");
            pty.await("42-ü.*40 100");
            pty.type("exit 7\r");
            assertThat(pty.end()).isEqualTo(7);
        }
    }

    @Test
    void promptShowsTheThread() {
        try (Pty pty = viv("shell", thread)) {
            pty.await(thread.substring(0, 40));
            pty.type("exit\r");
            assertThat(pty.end()).isZero();
        }
    }

    @Test
    void execOpensATerminal() {
        try (Pty pty = viv("exec", "-it", "-e", "WORDS=two words", "-w", "/tmp", thread, "--", "bash", "--norc")) {
            pty.type("tty -s && echo \"$WORDS in $PWD\" $((40 + 2))\r");
            pty.await("two words in /tmp 42");
            pty.type("exit 7\r");
            assertThat(pty.end()).isEqualTo(7);
        }
    }

    @Test
    void shellReceivesTheNewWindowSize() throws Exception {
        try (Pty pty = viv("shell", thread)) {
            pty.type("echo ready-$((1 + 1))\r");
            pty.await("ready-2");
            new ProcessBuilder("stty", "-F", pty.device(), "rows", "50", "cols", "132")
                    .start()
                    .waitFor();
            pty.type("until stty size | grep 132; do sleep 0.1; done; echo big-$((1 + 1))\r");
            pty.await("50 132.*big-2");
            pty.type("exit\r");
            assertThat(pty.end()).isZero();
        }
    }

    @Test
    void lostConnectionReconnectsToTheSameShell() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("kept=safe-$((40 + 2)); echo set-$kept\r");
            pty.await("set-safe-42");
            relay.cut();
            pty.await("connection lost");
            pty.type("echo never\r");
            // The bell signals that the input was dropped.
            pty.await("connection lost.*\u0007");
            relay.reconnect();
            pty.type("\r");
            Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> {
                pty.type("echo again-$kept\r");
                return pty.seen().contains("again-safe-42");
            });
            pty.type("exit 3\r");
            assertThat(pty.end()).isEqualTo(3);
            assertThat(pty.seen()).doesNotContain("\nnever");
        }
    }

    @Test
    void serverRestartReconnectsToTheSameShell() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("kept=safe-$((40 + 2)); echo set-$kept\r");
            pty.await("set-safe-42");
            server.restart();
            relay.pointTo(server.uri());
            Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> {
                pty.type("echo again-$kept\r");
                return pty.seen().contains("again-safe-42");
            });
            pty.type("exit 4\r");
            assertThat(pty.end()).isEqualTo(4);
        }
    }

    @Test
    void detachedShellCanBeJoinedAgain() {
        String session;
        try (Pty pty = viv("shell", thread)) {
            pty.type("kept=safe-$((40 + 2)); echo set-$kept\r");
            pty.await("set-safe-42");
            pty.type("~d");
            session = pty.await("--session (\\S+)");
            assertThat(pty.end()).isZero();
        }
        try (Pty pty = viv("shell", thread, "--session", session)) {
            pty.await("set-safe-42");
            pty.type("echo again-$kept\r");
            pty.await("again-safe-42");
            pty.type("\r~.");
            pty.end();
        }
    }

    @Test
    void observerSeesOutputAndCannotType() {
        try (Pty typist = viv("shell", thread)) {
            typist.type("echo seen-$((40 + 2))\r");
            typist.await("seen-42");
            try (Pty observer = viv("shell", thread, "--observe")) {
                observer.await("seen-42");
                observer.type("echo forged-$((1 + 1))\r");
                typist.type("echo later-$((1 + 1))\r");
                observer.await("later-2");
                observer.type("\r~.");
                assertThat(observer.end()).isZero();
            }
            typist.type("exit\r");
            assertThat(typist.end()).isZero();
            assertThat(typist.seen()).doesNotContain("forged");
        }
    }

    @Test
    void readOnlyMemberSeesANoticeAndCannotType() {
        try (Pty typist = viv("shell", thread)) {
            typist.type("echo seen-$((40 + 2))\r");
            typist.await("seen-42");
            server.api().post("/threads/" + thread + "/members", "{\"user_id\":\"ben\",\"scopes\":[\"shell:ro\"]}");
            try (Pty ben = vivAs(keyOf("ben"), "shell", thread)) {
                ben.await("seen-42");
                ben.await("you have read access");
                ben.type("echo forged-$((1 + 1))\r");
                typist.type("echo later-$((1 + 1))\r");
                ben.await("later-2");
                ben.type("\r~.");
                assertThat(ben.end()).isZero();
            }
            typist.type("exit\r");
            assertThat(typist.end()).isZero();
            assertThat(typist.seen()).doesNotContain("forged");
        }
    }

    @Test
    void revokedTokenIsReplacedAndTheShellContinues() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("kept=safe-$((40 + 2)); echo set-$kept\r");
            pty.await("set-safe-42");
            server.api().post("/threads/" + thread + "/sandbox/revoke", "{\"all\":true}");
            Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> {
                pty.type("echo again-$kept\r");
                return pty.seen().contains("again-safe-42");
            });
            pty.type("exit 5\r");
            assertThat(pty.end()).isEqualTo(5);
        }
    }

    @Test
    void endedSandboxEndsTheShellWithoutAReplacement() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("echo ready-$((1 + 1))\r");
            pty.await("ready-2");
            server.api().method("DELETE", "/threads/" + thread + "/sandbox");
            assertThat(pty.end()).isEqualTo(ExitCode.NOT_FOUND);
        }
        assertThat(server.api().get("/threads/" + thread + "/sandbox").status()).isEqualTo(404);
    }

    @Test
    void sandboxEndDuringADisconnectIsReported() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("echo ready-$((1 + 1))\r");
            pty.await("ready-2");
            relay.cut();
            pty.await("connection lost");
            server.api().method("DELETE", "/threads/" + thread + "/sandbox");
            relay.reconnect();
            assertThat(pty.end()).isEqualTo(ExitCode.NOT_FOUND);
        }
        assertThat(server.api().get("/threads/" + thread + "/sandbox").status()).isEqualTo(404);
    }

    @Test
    void lostConnectionCanBeQuit() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("echo ready-$((1 + 1))\r");
            pty.await("ready-2");
            relay.cut();
            pty.await("connection lost");
            pty.type("\r~.");
            assertThat(pty.end()).isZero();
            assertThat(pty.seen()).contains("--session");
        }
    }

    @Test
    void shellWithoutATerminalSuggestsExec() {
        var script = new CliRunner(server, home);
        assertThat(script.viv("shell", thread)).isEqualTo(ExitCode.USAGE);
        assertThat(script.err()).contains("viv exec " + thread);
        assertThat(script.viv("shell", thread, "--list")).isEqualTo(ExitCode.NOT_FOUND);
        script.viv("exec", thread, "--", "true");
        assertThat(script.viv("shell", thread, "--list", "--json")).isZero();
        assertThat(script.out()).isEmpty();
    }

    @Test
    void listShowsShellsAndParticipants() {
        var script = new CliRunner(server, home);
        try (Pty pty = viv("shell", thread, "--", "echo ready-$((1 + 1)); read x")) {
            pty.await("ready-2");
            // The window title names the participants.
            pty.await("\u001b]0;admin\u0007");
            assertThat(script.viv("shell", thread, "--list")).isZero();
            assertThat(script.out()).contains("running").contains("read x").contains("admin");
            pty.type("\r");
            assertThat(pty.end()).isZero();
        }
        script.viv("shell", thread, "--list", "--json");
        assertThat(Json.answer(script.out()).integer("exit_code")).isZero();
    }

    @Test
    void terminatedVivRestoresTheTerminal() {
        try (Pty pty = viv("shell", thread)) {
            pty.type("echo ready-$((1 + 1))\r");
            pty.await("ready-2");
            pty.terminateViv();
            assertThat(pty.end()).isEqualTo(143);
        }
    }

    private Pty viv(String... args) {
        return vivAs(server.adminKey(), args);
    }

    private Pty vivAs(String key, String... args) {
        return new Pty(
                Map.of(
                        "VIV_SERVER", relay.uri().toString(),
                        "VIV_API_KEY", key,
                        "HOME", home.toString()),
                args);
    }

    private static String keyOf(String user) {
        return server.api()
                .post("/admin/keys", "{\"user_id\":\"" + user + "\"}")
                .json()
                .string("key");
    }
}
