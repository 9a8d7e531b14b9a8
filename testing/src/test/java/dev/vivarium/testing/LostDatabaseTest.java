package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.testbed.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Termination of sandboxes while PostgreSQL is down.
class LostDatabaseTest {
    private PostgresServer postgres;
    private String store;
    private Path home;

    @BeforeEach
    void makeHome() throws IOException {
        postgres = PostgresServer.start();
        store = postgres.newDatabase();
        home = Files.createTempDirectory("viv-lost").toRealPath();
    }

    @AfterEach
    void cleanUp() throws IOException {
        ServerProcess.purge(home, "--provider", "process", "--store", store);
        postgres.close();
        FileTrees.delete(home);
    }

    @Test
    void terminationWithoutTheDatabaseSurvivesAServerKill() {
        String session;
        try (var server = start()) {
            session = server.api().session();
            postgres.stop();
            end(server.api(), session);
            assertEnded(server.api(), session);
            assertThat(home.resolve("disks").resolve(session)).doesNotExist();
        }
        postgres.startAgain();
        try (var server = start()) {
            assertEnded(server.api(), session);
            await().untilAsserted(() -> assertThat(server.api()
                            .get("/api/v1/sandboxes/" + session + "/events?type=sandbox.terminated")
                            .text())
                    .contains("ended by the admin"));
        }
    }

    @Test
    void terminationWithoutTheDatabaseIsStoredAndAuditedLater() {
        try (var server = start()) {
            String session = server.api().session();
            postgres.stop();
            end(server.api(), session);
            postgres.startAgain();
            await().untilAsserted(() -> assertThat(home.resolve("ended")).isEmptyDirectory());
            assertEnded(server.api(), session);
            await().untilAsserted(() -> assertThat(server.api()
                            .get("/admin/audit?kind=ended&sandbox_id=" + session)
                            .text())
                    .contains(session));
        }
    }

    private ServerProcess start() {
        return ServerProcess.start(home, "--provider", "process", "--pool-size", "0", "--store", store);
    }

    private static void end(Api api, String session) {
        assertThat(api.method("DELETE", "/admin/sandboxes/" + session).status()).isEqualTo(200);
    }

    private static void assertEnded(Api api, String session) {
        var ended = api.post("/execute", Api.command(session, "true"));
        assertThat(ended.status()).isEqualTo(404);
        assertThat(ended.json().object("end").string("cause")).isEqualTo("user");
        assertThat(ended.json().object("end").string("detail")).isEqualTo("ended by the admin");
    }
}
