package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `viv sync --watch` while both sides change.
@Timeout(300)
class SyncWatchTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private static TestServer server;

    private final String thread = "watch-" + UUID.randomUUID();

    @TempDir
    private Path home;

    private Path here;
    private CliRunner agent;
    private CliRunner watcher;

    /// Connection of the watcher.
    private Relay relay;

    private Thread watchThread;

    @BeforeAll
    static void start() {
        server = TestServer.start("--max-file-size-mb", "1");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void begin() throws Exception {
        here = Files.createDirectory(home.resolve("here"));
        relay = new Relay(server.uri());
        agent = new CliRunner(server, home);
        watcher = new CliRunner(server, home).with("VIV_SERVER", relay.uri().toString());
    }

    @AfterEach
    void end() throws Exception {
        if (watchThread != null) {
            watchThread.interrupt();
            watchThread.join();
        }
        relay.close();
    }

    @Test
    void changesAreCopiedBothWaysUntilInterrupted() throws Exception {
        write("mine", "1");
        watch();
        awaitThere("cat mine", "1");
        there("mkdir sub; printf 2 > sub/theirs; printf 1b > mine");
        awaitHere("sub/theirs", "2");
        awaitHere("mine", "1b");
        Files.delete(here.resolve("sub/theirs"));
        awaitThere("test -e sub/theirs || printf gone", "gone");
        there("rm mine");
        await().atMost(TIMEOUT).until(() -> !Files.exists(here.resolve("mine")));
    }

    @Test
    void conflictKeepsACopyAndDoesNotBlockOtherFiles() throws Exception {
        write("both", "base");
        watch();
        awaitThere("cat both", "base");
        // The watcher must not scan between the two writes.
        relay.cut();
        await().atMost(TIMEOUT).until(() -> watcher.err().contains("waiting: the server"));
        there("printf theirs > both");
        write("both", "ours");
        relay.reconnect();
        await().atMost(TIMEOUT).until(() -> watcher.out().contains("conflict  both"));
        write("other", "goes on");
        awaitThere("cat other", "goes on");
        Path copy = copyOf("both");
        assertThat(copy).hasContent("theirs");
        assertThat(here.resolve("both")).hasContent("ours");
        assertThat(there("cat both")).isEqualTo("theirs");
        assertThat(watcher.out().split("conflict  both", -1)).hasSize(2);
        Files.delete(copy);
        awaitThere("cat both", "ours");
    }

    @Test
    void skippedFilesAreReported() throws Exception {
        write(".vivignore", "*.log\n");
        write("noise.log", "x");
        write("large", "x".repeat(1_100_000));
        Files.createSymbolicLink(here.resolve("link"), Path.of("/etc/passwd"));
        // Before the watch starts, so that it does not scan between the writes.
        there("printf a > Name; printf b > name; ln -s /etc/shadow theirs; printf x > fine");
        watch();
        awaitHere("fine", "x");
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(watcher.out())
                        .contains("skipped  link  (here is a symbolic link)")
                        .contains("skipped  Name", "skipped  name", "differs only in case")
                        .contains("skipped  theirs  (there is not a regular file)")
                        .contains("failed  large"));
        assertThat(here.resolve("Name")).doesNotExist();
        assertThat(here.resolve("theirs")).doesNotExist();
        assertThat(there("ls")).doesNotContain("noise.log", "link", "large");
        assertThat(agent.viv("cp", here.resolve("large").toString(), thread + ":"))
                .isEqualTo(ExitCode.NO_ROOM);
        assertThat(agent.err()).contains("up to 1.0 MB");

        // The rules are read again. Files that they no longer match are copied.
        write(".vivignore", "nothing\n");
        awaitThere("cat noise.log", "x");
    }

    @Test
    void growingFileArrivesComplete() throws Exception {
        watch("--interval", "100ms");
        awaitWatching();
        there("(i=0; while [ $i -lt 200 ]; do echo line $i >> growing; i=$((i+1)); sleep 0.01; done)");
        String complete = there("cat growing");
        awaitHere("growing", complete);
    }

    @Test
    void syncContinuesAfterAServerRestart() throws Exception {
        write("mine", "1");
        watch();
        awaitThere("cat mine", "1");
        server.stop(Duration.ZERO);
        await().atMost(TIMEOUT).until(() -> watcher.err().contains("waiting: the server"));
        write("mine", "2");
        server.restart();
        relay.pointTo(server.uri());
        agent.with("VIV_SERVER", server.uri().toString());
        awaitThere("cat mine", "2");
        assertThat(watcher.err()).contains("continuing");
    }

    @Test
    void pausedSandboxIsNotResumed() throws Exception {
        there("true");
        agent.viv("pause", thread);
        write("mine", "2");
        watch();
        await().atMost(TIMEOUT).until(() -> watcher.err().contains("waiting: the sandbox is paused"));
        agent.viv("threads");
        assertThat(agent.out()).containsPattern(thread + "\t.*\tpaused\t");
        agent.viv("resume", thread);
        awaitThere("cat mine", "2");
    }

    @Test
    void replacedSandboxDoesNotEmptyTheDirectory() throws Exception {
        write("mine", "precious");
        watch();
        awaitThere("cat mine", "precious");
        assertThat(server.api()
                        .method("DELETE", "/threads/" + thread + "/sandbox")
                        .status())
                .isEqualTo(200);
        await().atMost(TIMEOUT).until(() -> watcher.err().contains("waiting: "));
        assertThat(here.resolve("mine")).hasContent("precious");
        awaitThere("cat mine 2>/dev/null", "precious");
        assertThat(here.resolve("mine")).hasContent("precious");
        assertThat(watcher.err()).contains("is a new one");
    }

    private void watch(String... options) {
        var line = new ArrayList<>(List.of("sync", thread, here.toString(), "--watch"));
        line.addAll(List.of(options.length == 0 ? new String[] {"--interval", "200ms"} : options));
        watchThread = Thread.ofPlatform().name("viv-sync-watch").start(() -> watcher.viv(line.toArray(String[]::new)));
    }

    private void awaitWatching() {
        await().atMost(TIMEOUT).until(() -> watcher.err().contains("keeping"));
    }

    private Path write(String name, String text) throws Exception {
        return Files.writeString(here.resolve(name), text);
    }

    private String there(String command) {
        agent.viv("exec", thread, "--", command);
        return agent.out();
    }

    private void awaitThere(String command, String wanted) {
        await().atMost(TIMEOUT).until(() -> there(command).equals(wanted));
    }

    private void awaitHere(String name, String wanted) {
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> Files.readString(here.resolve(name)).equals(wanted));
    }

    private Path copyOf(String name) throws Exception {
        try (var files = Files.list(here)) {
            return files.filter(file -> file.getFileName().toString().startsWith(name + ".remote-"))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
