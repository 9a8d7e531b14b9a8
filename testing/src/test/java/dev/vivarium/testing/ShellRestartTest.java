package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.FileTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Shells survive server restarts and kills.
@Timeout(120)
class ShellRestartTest {
    private static final String QUIET = "\"command\":\"stty -echo; exec bash --norc --noprofile\"";

    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-shell").toRealPath();
    }

    @AfterEach
    void removeHome() throws IOException {
        ServerProcess.purge(home, "--provider", "process");
        FileTrees.delete(home);
    }

    @Test
    void shellSurvivesAServerKill() throws IOException {
        String sandbox;
        String session;
        try (var server = start();
                var shell = enter(server, sandbox = server.api().session(), QUIET)) {
            session = shell.session();
            shell.type("x=kept; echo be''fore; (sleep 1; echo mean''while) & echo go''ing\n")
                    .awaitScreen("going");
        }
        try (var server = start();
                var shell = enter(server, sandbox, "\"session_id\":\"" + session + "\"")) {
            assertThat(shell.awaitScreen("meanwhile")).contains("before");
            shell.type("echo still $x\n").awaitScreen("still kept");
        }
    }

    @Test
    void exitDuringAServerKillIsReportedLater() throws IOException {
        String sandbox;
        String session;
        Path workspace;
        try (var server = start();
                var shell = enter(
                        server,
                        sandbox = server.api().session(),
                        "\"command\":\"echo begun; while [ ! -e go ]; do sleep 0.1; done; echo ended; exit 5\"")) {
            session = shell.session();
            shell.awaitScreen("begun");
            workspace = Path.of(
                    server.api().execute(sandbox, "pwd -P").string("stdout").strip());
        }
        Files.createFile(workspace.resolve("go"));
        try (var server = start();
                var shell = enter(server, sandbox, "\"session_id\":\"" + session + "\"")) {
            assertThat(shell.awaitScreen("ended")).contains("begun");
            assertThat(shell.await("exit").integer("code")).isEqualTo(5);
        }
    }

    @Test
    void stoppingServerClosesShellsWithGoingAway() {
        try (var server = TestServer.start()) {
            String sandbox = server.api().session();
            try (var shell = ShellClient.enter(server.uri(), sandbox, server.adminKey(), QUIET)) {
                server.stop(Duration.ofSeconds(60));
                assertThat(shell.awaitClose()).isEqualTo(1001);
            }
        }
    }

    private ServerProcess start() {
        return ServerProcess.start(home, "--provider", "process", "--pool-size", "0");
    }

    private ShellClient enter(ServerProcess server, String sandbox, String more) throws IOException {
        String key = Files.readString(home.resolve("credentials")).strip();
        return ShellClient.enter(server.uri(), sandbox, key, more);
    }
}
