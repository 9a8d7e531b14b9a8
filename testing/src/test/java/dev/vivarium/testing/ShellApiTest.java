package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.access.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Shells over WebSocket, against a real server with real sandboxes.
@Timeout(120)
class ShellApiTest {
    private static final String QUIET = "\"command\":\"stty -echo; exec bash --norc --noprofile\"";

    /// Bytes that a process has written, as counted by the kernel.
    private static final String WRITTEN = "grep wchar /proc/$(cat pid)/io";

    private static TestServer server;
    private static Api api;

    @BeforeAll
    static void start() {
        server = TestServer.start("--max-commands-per-sandbox", "300");
        api = server.api();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void typedCommandRunsAndItsOutputIsShown() {
        try (var shell = enter(api.session(), "")) {
            shell.type("echo =$((6 * 7))\n");
            assertThat(shell.awaitScreen("=42")).contains("echo =$((6 * 7))");
            shell.type("exit 3\n");
            assertThat(shell.await("exit").integer("code")).isEqualTo(3);
            assertThat(shell.awaitClose()).isEqualTo(1000);
        }
    }

    @Test
    void deletedShellIsKilled() {
        String sandbox = api.session();
        String shells = "/sandboxes/" + sandbox + "/shells";
        String id = api.post(shells, "{\"command\":\"sleep 1000\"}").json().string("session_id");
        try (var viewer = enter(sandbox, "\"session_id\":\"" + id + "\"")) {
            assertThat(api.method("DELETE", shells + "/" + id).status()).isEqualTo(204);

            assertThat(viewer.await("exit").integer("code")).isEqualTo(137);
            assertThat(viewer.awaitClose()).isEqualTo(1000);
        }
        assertThat(api.method("DELETE", shells + "/nonsense").status()).isEqualTo(404);
    }

    @Test
    void pingIsAnswered() {
        try (var shell = enter(api.session(), "")) {
            shell.send("{\"type\":\"ping\"}").await("pong");
        }
    }

    @Test
    void signalReachesTheRunningCommand() {
        try (var shell = enter(api.session(), "\"command\":\"echo ready; sleep 1000\"")) {
            shell.awaitScreen("ready");
            shell.send("{\"type\":\"signal\",\"name\":\"TERM\"}");
            assertThat(shell.await("exit").integer("code")).isEqualTo(143);
        }
    }

    @Test
    void terminalSizeIsAppliedAndValidated() {
        String quiet = "\"cols\":100,\"rows\":30," + QUIET;
        try (var shell = enter(api.session(), quiet)) {
            shell.type("stty size\n").awaitScreen("30 100");
            shell.send("{\"type\":\"resize\",\"cols\":0,\"rows\":10}");
            assertThat(shell.await("error").string("code")).isEqualTo("invalid-request");
            shell.send("{\"type\":\"resize\",\"cols\":100000,\"rows\":50}");
            shell.type("stty size\n").awaitScreen("50 1000");
        }
    }

    @Test
    void allViewersReceiveTheTerminalSize() {
        String sandbox = api.session();
        try (var typist = enter(sandbox, "\"cols\":100,\"rows\":30," + QUIET);
                var watcher = ShellClient.connect(server.uri(), sandbox)) {
            watcher.auth(server.adminKey(), "\"observe\":true,\"cols\":10,\"rows\":10");
            var entered = watcher.await("auth_ok");
            assertThat(entered.integer("cols")).isEqualTo(100);
            assertThat(entered.integer("rows")).isEqualTo(30);
            typist.send("{\"type\":\"resize\",\"cols\":90,\"rows\":20}");
            var size = watcher.await("size");
            assertThat(size.integer("cols")).isEqualTo(90);
            assertThat(size.integer("rows")).isEqualTo(20);
        }
    }

    @Test
    void outputStopsAtTheFlowControlWindow() {
        try (var shell = enter(api.session(), "\"window\":50000,\"command\":\"echo $$ > pid; exec yes\"")) {
            int first = shownAfterPings(shell, 50_000);
            assertThat(first).isLessThan(50_000 + 32 * 1024);
            shell.send("{\"type\":\"seen\",\"characters\":" + first + "}");
            assertThat(shownAfterPings(shell, first + 50_000)).isLessThan(first + 50_000 + 32 * 1024);
        }
    }

    /// Waits until the client has at least `min` characters, gives the server time to send more, and returns the
    /// count.
    private static int shownAfterPings(ShellClient shell, int min) {
        int more = 10;
        while (shell.screen().length() < min || more-- > 0) {
            shell.send("{\"type\":\"ping\"}").await("pong");
        }
        return shell.screen().length();
    }

    @Test
    void invalidMessagesAreReportedAndTheShellContinues() {
        try (var shell = enter(api.session(), QUIET)) {
            for (String message : List.of(
                    "{\"type\":\"dance\"}",
                    "{\"type\":\"stdin\"}",
                    "{\"type\":\"stdin\",\"data\":7}",
                    "{}",
                    "[]",
                    "{",
                    "{\"type\":\"signal\",\"name\":\"SIGFOO\"}",
                    "{\"type\":\"seen\",\"characters\":-1}",
                    "{\"type\":\"resize\",\"cols\":80}")) {
                shell.send(message);
                assertThat(shell.await("error").string("code")).as(message).isEqualTo("invalid-request");
            }
            shell.sendBinary(new byte[] {1, 2, 3});
            assertThat(shell.await("error").string("code")).isEqualTo("invalid-request");
            shell.type("echo still $((1+1)) here\n").awaitScreen("still 2 here");
        }
    }

    @Test
    void unauthenticatedSocketIsClosed() {
        String sandbox = api.session();
        for (String first : List.of(
                "hello",
                "{\"type\":\"stdin\",\"data\":\"id\\n\"}",
                "{\"type\":\"auth\"}",
                "{\"type\":\"auth\",\"token\":\"\"}",
                "{\"type\":\"auth\",\"token\":\"wrong\"}",
                "{\"type\":\"auth\",\"token\":7}")) {
            try (var shell = ShellClient.connect(server.uri(), sandbox)) {
                shell.send(first);
                assertThat(shell.awaitClose()).as(first).isEqualTo(4401);
            }
        }
        try (var shell = ShellClient.connect(server.uri(), sandbox)) {
            shell.sendBinary(new byte[] {1});
            assertThat(shell.awaitClose()).isEqualTo(4401);
        }
    }

    @Test
    void oversizedFirstMessageClosesTheSocket() {
        try (var shell = ShellClient.connect(server.uri(), api.session())) {
            try {
                shell.send("x".repeat(10_000_000));
            } catch (RuntimeException gone) {
                // The server closed the connection while the client was still sending.
            }
            await().until(() -> {
                try {
                    return shell.awaitClose() == 1009;
                } catch (RuntimeException cut) {
                    return true;
                }
            });
        }
    }

    @Test
    void anotherUsersSandboxIsNotFound() {
        String sandbox = api.session();
        String mallory =
                api.post("/admin/keys", "{\"user_id\":\"mallory\"}").json().string("key");
        for (String id : List.of(sandbox, "sbxaaaaaaaaaaaaaaaaaaaa", "nonsense")) {
            try (var shell = ShellClient.connect(server.uri(), id)) {
                shell.auth(mallory, "");
                assertThat(shell.await("error").string("code")).isEqualTo("no-such-sandbox");
                assertThat(shell.awaitClose()).isEqualTo(4404);
            }
        }
    }

    @Test
    void readOnlyTokenSeesOutputButCannotType() {
        String sandbox = api.session();
        String token = server.token(sandbox, Scope.SHELL_RO);
        try (var typist = ShellClient.enter(server.uri(), sandbox, server.token(sandbox, Scope.SHELL), QUIET);
                var watcher = ShellClient.enter(server.uri(), sandbox, token, "\"cols\":10,\"rows\":10")) {
            assertThat(watcher.session()).isEqualTo(typist.session());
            watcher.type("touch forbidden\n");
            assertThat(watcher.await("error").string("code")).isEqualTo("not-allowed");
            watcher.send("{\"type\":\"signal\",\"name\":\"KILL\"}");
            assertThat(watcher.await("error").string("code")).isEqualTo("not-allowed");
            typist.type("ls; echo se''en\n");
            assertThat(watcher.awaitScreen("seen")).doesNotContain("forbidden");
        }
    }

    @Test
    void observerCannotTypeOrResize() {
        String sandbox = api.session();
        try (var typist = enter(sandbox, QUIET);
                var watcher = enter(sandbox, "\"observe\":true,\"cols\":10,\"rows\":10")) {
            assertThat(watcher.session()).isEqualTo(typist.session());
            watcher.type("touch forbidden\n");
            assertThat(watcher.await("error").string("code")).isEqualTo("not-allowed");
            typist.type("stty size\n");
            watcher.awaitScreen("24 80");
        }
    }

    @Test
    void readOnlyTokenCannotOpenAShell() {
        String sandbox = api.session();
        try (var watcher = ShellClient.connect(server.uri(), sandbox)) {
            watcher.auth(server.token(sandbox, Scope.SHELL_RO), "");
            assertThat(watcher.await("error").string("code")).isEqualTo("no-such-shell");
            assertThat(watcher.awaitClose()).isEqualTo(4404);
        }
        var token = api.with(server.token(sandbox, Scope.SHELL_RO));
        assertThat(token.get("/sandboxes/" + sandbox + "/shells").status()).isEqualTo(200);
        assertThat(token.post("/sandboxes/" + sandbox + "/shells", "{}").status())
                .isEqualTo(403);
    }

    @Test
    void shellNeedsATokenWithScopeForThisSandbox() {
        String sandbox = api.session();
        try (var shell = ShellClient.connect(server.uri(), sandbox)) {
            shell.auth(server.token(sandbox, Scope.FS_RW, Scope.PROCESS), "");
            assertThat(shell.awaitClose()).isEqualTo(4403);
        }
        try (var shell = ShellClient.connect(server.uri(), sandbox)) {
            shell.auth(server.token(api.session(), Scope.SHELL), "");
            assertThat(shell.awaitClose()).isEqualTo(4401);
        }
    }

    @Test
    void socketAcceptsAnotherTokenOfTheSameUserAndScope() {
        String sandbox = api.session();
        try (var shell = ShellClient.enter(server.uri(), sandbox, server.token(sandbox, Scope.SHELL), QUIET)) {
            shell.auth(server.token(sandbox, Scope.SHELL), "").await("auth_ok");
            shell.auth(server.token(sandbox, Scope.SHELL_RO), "");
            assertThat(shell.await("error").string("code")).isEqualTo("not-allowed");
            shell.auth(server.adminKey(), "");
            assertThat(shell.await("error").string("code")).isEqualTo("not-allowed");
        }
    }

    @Test
    void endOfSandboxClosesItsShells() {
        String sandbox = api.session();
        try (var shell = enter(sandbox, QUIET)) {
            api.post("/cleanup", "{\"session_id\":\"" + sandbox + "\"}");
            assertThat(shell.await("error").string("code")).isEqualTo("sandbox-ended");
            assertThat(shell.awaitClose()).isGreaterThan(4400);
        }
    }

    @Test
    void unknownShellIsNotFound() {
        for (String id : List.of("shlaaaaaaaaaaaaaaaaaaaa", "nonsense")) {
            try (var shell = ShellClient.connect(server.uri(), api.session())) {
                shell.auth(server.adminKey(), "\"session_id\":\"" + id + "\"");
                assertThat(shell.await("error").string("code")).isEqualTo("no-such-shell");
                assertThat(shell.awaitClose()).isEqualTo(4404);
            }
        }
    }

    @Test
    void requestWithoutUpgradeReturns426() {
        assertThat(api.get("/sandboxes/" + api.session() + "/shell").status()).isEqualTo(426);
    }

    @Test
    void twoUsersShareOneShellAndTheListShowsBoth() {
        String sandbox = api.session();
        try (var ann = enter(sandbox, QUIET);
                var bob = enter(sandbox, "\"session_id\":\"" + ann.session() + "\"")) {
            ann.type("echo from $((40 + 1)) ann\n");
            bob.awaitScreen("from 41 ann");
            bob.type("echo from $((40 + 2)) bob\n");
            ann.awaitScreen("from 42 bob");
            var listed = api.get("/sandboxes/" + sandbox + "/shells").json().objects("shells");
            assertThat(listed).hasSize(1);
            assertThat(listed.getFirst().objects("people")).hasSize(2);
        }
        await().untilAsserted(() -> assertThat(api.get("/sandboxes/" + sandbox + "/shells")
                        .json()
                        .objects("shells")
                        .getFirst()
                        .objects("people"))
                .isEmpty());
    }

    @Test
    void shellSurvivesADisconnect() {
        String sandbox = api.session();
        String id;
        try (var shell = enter(sandbox, QUIET)) {
            id = shell.session();
            shell.type("cd /tmp; x=kept; echo be''fore\n").awaitScreen("before");
        }
        try (var shell = enter(sandbox, "\"session_id\":\"" + id + "\"")) {
            shell.awaitScreen("before");
            shell.type("echo $x in $PWD\n").awaitScreen("kept in /tmp");
        }
    }

    @Test
    void userAttachesToACommandThatAnAgentStarted() {
        String sandbox = api.session();
        var started = api.post("/sandboxes/" + sandbox + "/shells", "{\"command\":\"echo building; read x; echo $x\"}");
        assertThat(started.status()).isEqualTo(201);
        try (var person = enter(sandbox, "\"session_id\":\"" + started.json().string("session_id") + "\"")) {
            person.awaitScreen("building");
            person.type("done by hand\n").awaitScreen("done by hand");
            assertThat(person.await("exit").integer("code")).isZero();
        }
    }

    @Test
    void concurrentShellsLoseNoInput() throws Exception {
        int shells = Integer.getInteger("vivarium.test.shells", 40);
        int lines = 50;
        String sandbox = api.session();
        var workers = new ArrayList<Future<?>>();
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < shells; i++) {
                String name = "shell-" + i;
                workers.add(pool.submit(() -> typeMany(sandbox, name, lines)));
            }
        }
        for (var worker : workers) {
            worker.get();
        }
    }

    private static void typeMany(String sandbox, String name, int lines) {
        try (var shell = enter(sandbox, "\"command\":\"stty -echo -opost; echo ready; exec cat\"")) {
            shell.awaitScreen("ready\n");
            var all = new StringBuilder();
            for (int line = 0; line < lines; line++) {
                String text = name + " line " + line + " ünï😀\n";
                all.append(text);
                for (String key : List.of(text.substring(0, 5), text.substring(5))) {
                    shell.type(key);
                }
            }
            assertThat(shell.awaitScreen(name + " line " + (lines - 1) + " ünï😀\n"))
                    .isEqualTo(all.toString());
        }
    }

    @Test
    void fiftyViewersReceiveTheSameOutput() throws Exception {
        String sandbox = api.session();
        try (var typist = enter(sandbox, "\"command\":\"stty -echo -opost; echo ready; read x; seq 20000\"");
                var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            typist.awaitScreen("ready\n");
            var viewers = new ArrayList<ShellClient>();
            for (int i = 0; i < 50; i++) {
                viewers.add(enter(sandbox, "\"session_id\":\"" + typist.session() + "\""));
            }
            var seen = viewers.stream()
                    .map(viewer -> pool.submit(() -> viewer.awaitScreen("\n20000\n")))
                    .toList();
            typist.type("\n");
            var expected = new StringBuilder("ready\n");
            for (int i = 1; i <= 20_000; i++) {
                expected.append(i).append('\n');
            }
            for (var screen : seen) {
                assertThat(screen.get()).isEqualTo(expected.toString());
            }
            viewers.forEach(ShellClient::close);
        }
    }

    @Test
    void viewerThatDoesNotReadBlocksTheProcess() {
        String sandbox = api.session();
        try (var shell = ShellClient.connect(server.uri(), sandbox, ShellClient.Reading.NEVER)) {
            shell.auth(server.adminKey(), "\"command\":\"echo $$ > pid; exec yes\"");
            // The process blocks once every buffer between the process and the viewer is full.
            await().untilAsserted(() -> {
                var counts = api.execute(sandbox, WRITTEN + "; sleep 0.3; " + WRITTEN);
                var lines = counts.string("stdout").lines().toList();
                assertThat(lines).hasSize(2);
                assertThat(lines.getFirst()).startsWith("wchar").isEqualTo(lines.getLast());
            });
        }
    }

    private static ShellClient enter(String sandbox, String more) {
        return ShellClient.enter(server.uri(), sandbox, server.adminKey(), more);
    }
}
