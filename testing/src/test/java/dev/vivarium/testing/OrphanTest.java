package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Sandboxes whose server was killed, and the traces of a server that stops or cannot start. Needs root.
@Tag("root")
class OrphanTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String FORK_FOREVER =
            "(while :; do (sleep 0.2 &) 2> /dev/null; done) > /dev/null 2>&1 < /dev/null &";
    private static final String BEAT = "echo > beats; (while :; do echo >> beats; sleep 0.05; done) > /dev/null 2>&1 &";

    private Path directory;
    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        directory = Files.createTempDirectory("viv-orphan").toRealPath();
        home = Files.createDirectory(directory.resolve("home"));
    }

    @AfterEach
    void cleanUp() throws IOException {
        ServerProcess.purge(home);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(HostTraces.of(home)).isEmpty());
        FileTrees.delete(directory);
    }

    @Test
    void orphanedSandboxesEndAfterTheGracePeriodAndKeepTheirFiles() throws IOException {
        String thread = Api.thread();
        String pausedThread = Api.thread();
        Set<SandboxId> machines;
        Set<SandboxId> used;
        try (var server = start("--orphan-grace", "3", "--pool-size", "2")) {
            String running = create(server.api(), thread);
            String paused = create(server.api(), pausedThread);
            used = Set.of(new SandboxId(running), new SandboxId(paused));
            server.api().execute(running, "echo kept > file; sync; " + FORK_FOREVER);
            server.api().execute(paused, "echo asleep > file; sync; sleep 1000 > /dev/null 2>&1 &");
            assertThat(server.api()
                            .post("/api/v1/sandboxes/" + paused + "/pause", "{}")
                            .status())
                    .isEqualTo(200);
            await().until(() -> machines().size() == 4);
            machines = machines();
            assertWatcherIsDetached();
        }

        await().atMost(TIMEOUT).untilAsserted(() -> {
            for (SandboxId id : machines) {
                assertThat(tracesExceptDisk(id)).isEmpty();
            }
            assertThat(HostTraces.of(home)).isEmpty();
            assertThat(home.resolve("run")).doesNotExist();
        });
        for (SandboxId id : used) {
            assertThat(home.resolve("disks").resolve(id + ".ext4")).exists();
        }

        try (var server = start("--orphan-grace", "60", "--pool-size", "0")) {
            assertThat(read(server.api(), thread)).isEqualTo("kept\n");
            assertThat(read(server.api(), pausedThread)).isEqualTo("asleep\n");
            await().untilAsserted(() -> assertThat(disks()).isEqualTo(used));
        }
    }

    @Test
    void orphanedSandboxWithThePolicyHibernateIsHibernated() {
        String thread = Api.thread();
        String other = Api.thread();
        Set<SandboxId> all;
        try (var server = start("--orphan-grace", "3", "--pool-size", "0", "--on-idle", "hibernate")) {
            all = Set.of(kept(server.api(), thread), kept(server.api(), other));
        }
        await().atMost(TIMEOUT).untilAsserted(() -> {
            for (SandboxId id : all) {
                assertThat(tracesExceptDisk(id)).isEmpty();
            }
            assertThat(HostTraces.of(home)).isEmpty();
        });

        try (var server = start("--orphan-grace", "3", "--pool-size", "0")) {
            var found = server.api().get("/get_session?thread_id=" + thread).json();
            assertThat(all).contains(new SandboxId(found.string("session_id")));
            assertThat(found.string("status")).isEqualTo("hibernated");
            assertThat(found.string("state_reason")).startsWith("no_server: ");
            assertThat(machines()).isEmpty();
            assertThat(read(server.api(), thread)).isEqualTo("kept\n");
        }
        ServerProcess.purge(home);
        assertThat(disks()).as("also the disk of a hibernated sandbox").isEmpty();
    }

    private static SandboxId kept(Api api, String thread) {
        String session = create(api, thread);
        api.execute(session, "echo kept > file; sync; sleep 1000 > /dev/null 2>&1 &");
        return new SandboxId(session);
    }

    @Test
    void restartWithinTheGracePeriodKeepsProcessesRunning() {
        var grace = Duration.ofSeconds(15);
        String thread = Api.thread();
        String session;
        try (var server = start("--orphan-grace", "15", "--pool-size", "0")) {
            session = create(server.api(), thread);
            server.api().execute(session, BEAT);
        }
        long killed = System.nanoTime();
        try (var server = start("--orphan-grace", "15", "--pool-size", "0")) {
            assertThat(find(server.api(), thread)).isEqualTo(session);
            await().atMost(TIMEOUT)
                    .until(() ->
                            System.nanoTime() - killed > grace.plusSeconds(3).toNanos());
            long beats = beats(server.api(), session);
            await().untilAsserted(() -> assertThat(beats(server.api(), session)).isGreaterThan(beats));
        }
    }

    @Test
    void stoppedServerRemovesItsPooledMachines() {
        String session;
        try (var server = start("--pool-size", "2")) {
            session = create(server.api(), Api.thread());
            server.api().execute(session, BEAT);
            await().until(() -> machines().size() == 3);
            var unused = new HashSet<>(machines());
            unused.remove(new SandboxId(session));

            server.terminate();

            for (SandboxId id : unused) {
                assertThat(HostTraces.of(id, home)).isEmpty();
            }
            assertThat(machines()).containsExactly(new SandboxId(session));
            assertThat(tracesExceptDisk(new SandboxId(session)))
                    .as("a used sandbox keeps running")
                    .anyMatch(trace -> trace.startsWith("process"));
        }
    }

    @Test
    void failedStartLeavesNothing() throws IOException {
        Path fresh = directory.resolve("fresh");
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertThat(ServerProcess.fail(fresh, "--port", port, "--pool-size", "2"))
                    .isEqualTo(2);
        }
        assertThat(HostTraces.of(fresh)).isEmpty();
        assertThat(fresh).doesNotExist();

        assertThat(ServerProcess.fail(fresh, "--store", "postgresql://nobody:none@127.0.0.1:1/none"))
                .isPositive();
        assertThat(HostTraces.of(fresh)).isEmpty();
        assertThat(fresh).doesNotExist();

        assertThat(ServerProcess.fail(fresh, "--pool-size", "many")).isEqualTo(2);
        assertThat(HostTraces.of(fresh)).isEmpty();
        assertThat(fresh).doesNotExist();
    }

    @Test
    void purgeFindsTheSandboxesOfADeletedHome() throws IOException {
        String session;
        try (var server = start("--pool-size", "1")) {
            session = create(server.api(), Api.thread());
            server.api().execute(session, BEAT);
            await().until(() -> machines().size() == 2);
        }
        FileTrees.delete(home);
        assertThat(HostTraces.of(new SandboxId(session), home)).anyMatch(trace -> trace.startsWith("process"));

        ServerProcess.purge(home);
        assertThat(HostTraces.of(new SandboxId(session), home)).isEmpty();
        await().untilAsserted(() -> assertThat(HostTraces.of(home)).isEmpty());
        assertThat(home).doesNotExist();
    }

    /// The watcher must neither hold the server's streams open nor die with its process group.
    private void assertWatcherIsDetached() throws IOException {
        String pid = Files.readString(home.resolve("watcher"));
        var descriptors = new ArrayList<String>();
        try (var open = Files.newDirectoryStream(Path.of("/proc", pid, "fd"))) {
            for (Path descriptor : open) {
                descriptors.add(Files.readSymbolicLink(descriptor).toString());
            }
        }
        assertThat(descriptors)
                .hasSize(3)
                .filteredOn(target -> target.equals("/dev/null"))
                .hasSize(2);
        String stat = Files.readString(Path.of("/proc", pid, "stat"));
        List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" "));
        assertThat(fields.get(3)).as("session id of the watcher").isEqualTo(pid);
    }

    private List<String> tracesExceptDisk(SandboxId id) {
        // The disk image and its label.
        String disk = "file " + home.resolve("disks").resolve(id + ".");
        return HostTraces.of(id, home).stream()
                .filter(trace -> !trace.startsWith(disk))
                .toList();
    }

    private Set<SandboxId> machines() {
        return ids(home.resolve("run"));
    }

    private Set<SandboxId> disks() {
        return ids(home.resolve("disks"));
    }

    private static Set<SandboxId> ids(Path directory) {
        var ids = new HashSet<SandboxId>();
        String[] names = directory.toFile().list();
        for (String name : names == null ? new String[0] : names) {
            String id = name.split("\\.", 2)[0];
            if (SandboxId.isWellFormed(id)) {
                ids.add(new SandboxId(id));
            }
        }
        return ids;
    }

    private ServerProcess start(String... arguments) {
        var all = new ArrayList<>(List.of("--disk-mb", "64", "--processes", "64", "--cpus", "0.5"));
        all.addAll(List.of(arguments));
        return ServerProcess.start(home, all.toArray(String[]::new));
    }

    private static String create(Api api, String thread) {
        String body = "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}";
        return api.post("/create_session", body).json().string("session_id");
    }

    private static String find(Api api, String thread) {
        return api.get("/get_session?thread_id=" + thread).json().string("session_id");
    }

    private static String read(Api api, String thread) {
        return api.execute(find(api, thread), "cat file").string("stdout");
    }

    private static long beats(Api api, String session) {
        return Long.parseLong(
                api.execute(session, "wc -l < beats").string("stdout").strip());
    }
}
