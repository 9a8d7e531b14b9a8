package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditQuery;
import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Threads;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Migration of a database of an older version, on every database.
abstract class MigrationContract {
    private static final String OWNERS = "V19__thread_owners.sql";
    private static final SandboxId LIVE = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final SnapshotId SAVED = new SnapshotId("snpaaaaaaaaaaaaaaaaaaaa");
    private static final ThreadId NAME = new ThreadId("main");
    private static final UserId BOB = new UserId("bob");
    private static final ThreadKey OF_ANN = new ThreadKey(new UserId("ann"), NAME);
    private static final ThreadKey OF_BOB = new ThreadKey(BOB, NAME);

    /// Connects to the empty database of this test, without migrations.
    abstract Connection connect() throws SQLException;

    /// Opens the same database.
    abstract Db openDb();

    @Test
    void rowsOfThreadsWithoutOwnersBelongToTheFirstUserAfterTheMigration() throws Exception {
        createOldDatabase();
        try (Db db = openDb()) {
            var rows = new SandboxRows(db);
            assertThat(rows.find(LIVE).orElseThrow().owner()).contains(OF_ANN);
            assertThat(rows.ownersOf(NAME)).containsExactly(OF_ANN.user());
            assertThat(new SnapshotRows(db).list(OF_ANN))
                    .singleElement()
                    .satisfies(snapshot -> assertThat(snapshot.id()).isEqualTo(SAVED));
            assertThat(new DiskOrigins(db).find(LIVE).orElseThrow().key()).isEqualTo(OF_ANN);
            var members = new Members(db, InstantSource.system());
            assertThat(members.find(OF_ANN, BOB)).isPresent();
            assertThat(members.owners(BOB, NAME)).containsExactly(OF_ANN.user());
            assertThat(new Threads(db, InstantSource.system()).list(Optional.of(BOB), Threads.Position.START, 10))
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.key()).isEqualTo(OF_ANN));
            assertThat(audited(db, OF_ANN)).isEqualTo(1);
        }
    }

    @Test
    void anotherUserCanUseTheNameAfterTheMigration() throws Exception {
        createOldDatabase();
        try (Db db = openDb()) {
            var rows = new SandboxRows(db);
            rows.addThread(OF_BOB, InstantSource.system().instant());
            assertThat(rows.ownersOf(NAME)).containsExactly(OF_ANN.user(), BOB);
            assertThat(new SnapshotRows(db).list(OF_BOB)).isEmpty();
            assertThat(audited(db, OF_BOB)).isZero();
        }
    }

    private static int audited(Db db, ThreadKey key) {
        var all = new AuditQuery(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        try (var audit = new Audit(db, 1000)) {
            return audit.list(all.ofThread(key), 10).size();
        }
    }

    private void createOldDatabase() throws SQLException, IOException {
        List<String> old = Migrations.FILES.subList(0, Migrations.FILES.indexOf(OWNERS));
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute("create table schema_version (version integer not null)");
            for (int version = 1; version <= old.size(); version++) {
                migrate(statement, old.get(version - 1));
                statement.execute("insert into schema_version (version) values (" + version + ")");
            }
            for (String row : rows()) {
                statement.execute(row);
            }
        }
    }

    private static void migrate(Statement statement, String file) throws SQLException, IOException {
        try (var resource = Migrations.class.getResourceAsStream(file)) {
            String text = new String(resource.readAllBytes(), StandardCharsets.UTF_8);
            for (String part : text.split(";\\s*\n")) {
                statement.execute(part);
            }
        }
    }

    private static List<String> rows() {
        return List.of(
                "insert into threads (thread_id, user_id, created_at) values ('main', 'ann', 1)",
                """
                insert into sandboxes (id, thread_id, user_id, status, image, secret, memory_bytes, cpus, processes,
                  disk_bytes, env, egress, idle_timeout_ms, created_at, last_activity, ends_at)
                values ('%s', 'main', 'ann', 'running', 'host', 's', 67108864, 1, 32, 33554432, '', '', 1, 1, 1, 1)""".formatted(LIVE),
                "insert into members (thread_id, user_id, scopes, invited_at) values ('main', 'bob', 'fs:ro', 1)",
                """
                insert into snapshots (snapshot_id, thread_id, sandbox_id, name, bytes, disk_bytes, created_at)
                values ('%s', 'main', '%s', 'first', 1, 1, 1)""".formatted(SAVED, LIVE),
                "insert into disk_origins (sandbox_id, thread_id, snapshot_id) values ('%s', 'main', '%s')"
                        .formatted(LIVE, SAVED),
                """
                insert into audit (seq, at, kind, outcome, route, user_id, thread_id, detail)
                values (1, 1, 'refused', 404, 'GET /x', 'bob', 'main', '')""");
    }
}
