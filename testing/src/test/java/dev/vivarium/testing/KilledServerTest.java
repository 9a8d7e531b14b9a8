package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Sandboxes when the server and their machines are killed with SIGKILL: no acknowledged state is lost. Needs root.
@Tag("root")
class KilledServerTest {
    private static final int KILLS = 3;
    private static final int CALLERS = 8;

    private final Set<SandboxId> seen = new HashSet<>();
    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        home = Files.createTempDirectory("viv-killed").toRealPath();
    }

    @AfterEach
    void cleanUp() throws IOException {
        ServerProcess.purge(home);
        for (SandboxId id : seen) {
            assertThat(HostTraces.of(id, home)).isEmpty();
        }
        FileTrees.delete(home);
    }

    @Test
    void sandboxesSurviveServerKillsUnderLoad() {
        String thread = Api.thread();
        String session;
        try (var server = start()) {
            session = create(server.api(), thread);
            server.api()
                    .execute(
                            session,
                            "echo kept > file; echo > beats; (while :; do echo >> beats; sleep 0.05; done) > /dev/null 2>&1 &");
            killUnderLoad(server, session);
        }
        for (int i = 1; i < KILLS; i++) {
            try (var server = start()) {
                assertSurvived(server.api(), thread, session);
                killUnderLoad(server, session);
            }
        }
        try (var server = start()) {
            assertSurvived(server.api(), thread, session);
        }
    }

    @Test
    void killedMachinesRestartWithTheirFiles() throws IOException {
        String thread = Api.thread();
        String session;
        try (var server = start()) {
            session = create(server.api(), thread);
            server.api().execute(session, "echo kept > file; sync");
        }
        long init = Long.parseLong(
                Files.readString(home.resolve("run").resolve(session).resolve("pid"))
                        .strip());
        ProcessHandle.of(init).ifPresent(ProcessHandle::destroyForcibly);
        await().until(() -> ProcessHandle.of(init).isEmpty());

        try (var server = start()) {
            assertThat(find(server.api(), thread)).isEqualTo(session);
            assertThat(server.api().execute(session, "cat file").string("stdout"))
                    .isEqualTo("kept\n");
        }
    }

    private void assertSurvived(Api api, String thread, String session) {
        assertThat(find(api, thread)).isEqualTo(session);
        assertThat(api.execute(session, "cat file").string("stdout")).isEqualTo("kept\n");
        long beats = beats(api, session);
        await().untilAsserted(() -> assertThat(beats(api, session)).isGreaterThan(beats));
    }

    private static long beats(Api api, String session) {
        return Long.parseLong(
                api.execute(session, "wc -l < beats").string("stdout").strip());
    }

    /// Kills the server while it creates, uses and removes sandboxes. The responses of these calls are ignored.
    private void killUnderLoad(ServerProcess server, String session) {
        var done = new AtomicBoolean();
        var rounds = new AtomicInteger();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < CALLERS; i++) {
                callers.submit(() -> createLoad(server.api(), session, rounds, done));
            }
            await().until(() -> rounds.get() > 0);
            seen.addAll(list());
            server.close();
            done.set(true);
        }
        seen.addAll(list());
    }

    private static Void createLoad(Api api, String session, AtomicInteger rounds, AtomicBoolean done) {
        while (!done.get()) {
            try {
                api.execute(session, "head -c 100000 /dev/zero | wc -c");
                String other = api.session();
                api.execute(other, "true");
                api.post("/cleanup", "{\"session_id\":\"" + other + "\"}");
                rounds.incrementAndGet();
            } catch (RuntimeException killed) {
                return null;
            }
        }
        return null;
    }

    private Set<SandboxId> list() {
        var ids = new HashSet<SandboxId>();
        String[] names = home.resolve("run").toFile().list();
        for (String name : names == null ? new String[0] : names) {
            if (SandboxId.isWellFormed(name)) {
                ids.add(new SandboxId(name));
            }
        }
        return ids;
    }

    private ServerProcess start() {
        return ServerProcess.start(home, "--pool-size", "2", "--disk-mb", "64");
    }

    private static String create(Api api, String thread) {
        String body = "{\"user_id\":\"u\",\"thread_id\":\"" + thread + "\"}";
        return api.post("/create_session", body).json().string("session_id");
    }

    private static String find(Api api, String thread) {
        return api.get("/get_session?thread_id=" + thread).json().string("session_id");
    }
}
