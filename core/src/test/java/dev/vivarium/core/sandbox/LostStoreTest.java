package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.failure;
import static dev.vivarium.core.sandbox.TestEngine.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.testbed.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Home directory whose store is lost or belongs to another server, and the adoption of its disks.
class LostStoreTest {
    private static final ThreadKey THREAD = TestEngine.thread("t1");

    @TempDir
    Path home;

    private TestEngine engine;

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void homeWithoutItsStoreIsRefusedAndStaysUnchanged() throws IOException {
        SandboxId id = sandboxWithASnapshot().sandbox();
        loseStore();
        Set<String> before = files();

        try (var provider = provider()) {
            var refused = failure(
                    Failure.InvalidRequest.class, () -> new HomeCheck(provider).openStore(home.resolve("viv.db")));
            assertThat(refused.sentence())
                    .contains("holds 1 disk, 1 machine and 1 snapshot that are not in its store")
                    .contains("The store is missing or empty")
                    .contains("Put the old store back")
                    .contains("viv serve --adopt")
                    .contains("viv purge");
            assertThat(provider.adopt(id, Duration.ofSeconds(5))).isPresent();
        }
        assertThat(files()).isEqualTo(before);
        adopt();
        engine.open(TestEngine.plain());
    }

    @Test
    void homeWithTheStoreOfAnotherServerIsRefused() throws IOException {
        sandboxWithAFile();
        loseStore();
        Db.sqlite(home.resolve("viv.db")).close();
        assertRefused("The store is new, or has lost its rows");
        adopt();
        engine.open(TestEngine.plain());
    }

    @Test
    void homeWithItsOwnStoreIsAccepted() {
        sandboxWithAFile();
        try (var provider = provider();
                var db = new HomeCheck(provider).openStore(home.resolve("viv.db"))) {
            assertThat(new HomeCheck(provider).belongsTo(db)).isTrue();
        }
        engine.open(TestEngine.plain());
    }

    @Test
    void olderHomeIsAcceptedIfTheStoreHasItsRows() throws IOException {
        SandboxId id = sandboxWithAFile();
        Files.delete(home.resolve("disks/" + id + ".label"));
        Files.delete(home.resolve("run/" + id + "/store"));
        try (var provider = provider();
                var db = new HomeCheck(provider).openStore(home.resolve("viv.db"))) {
            db.write(sql -> sql.update("delete from sandboxes where id = ?", id.value()));
        }
        assertRefused("The store is new, or has lost its rows");
        engine.open(TestEngine.plain());
    }

    @Test
    void homeWithAnEmptyPostgresStoreIsRefusedUntilAdopted() {
        sandboxWithAFile();
        var address = PostgresAddress.of(PostgresServer.shared().newDatabase());
        try (var provider = provider()) {
            var check = new HomeCheck(provider);
            failure(Failure.InvalidRequest.class, () -> check.checked(Db.postgres(address, home)));
            try (var db = Db.postgres(address, home)) {
                new Adoption(provider, db, InstantSource.system(), Duration.ofHours(1)).run();
            }
            check.checked(Db.postgres(address, home)).close();
        }
        engine.open(TestEngine.plain());
    }

    @Test
    void adoptedSandboxKeepsItsThreadAndFiles() throws IOException {
        SandboxId id = sandboxWithAFile();
        loseStore();
        adopt();
        engine.open(TestEngine.plain());

        Sandbox adopted = engine.sandboxes.require(THREAD);
        assertThat(adopted.id()).isEqualTo(id);
        assertThat(adopted.owner().user()).isEqualTo(TestEngine.ANN);
        assertThat(output(adopted, "cat file")).isEqualTo("kept");
        assertThat(engine.provider.inventory().trace(id).store()).contains(engine.db.id());
    }

    @Test
    void adoptedSnapshotCanBeRestored() throws IOException {
        SnapshotInfo snapshot = sandboxWithASnapshot();
        loseStore();
        adopt();
        engine.open(TestEngine.plain());

        Sandbox adopted = engine.sandboxes.require(THREAD);
        output(adopted, "rm file");
        assertThat(engine.sandboxes.snapshots().list(THREAD)).containsExactly(snapshot);
        engine.sandboxes.snapshots().restore(adopted, snapshot);
        assertThat(output(adopted, "cat file")).isEqualTo("kept");
    }

    @Test
    void orphanIsAdoptedWhenItsThreadIsFree() {
        SandboxId first = sandboxWithAFile();
        deleteRow(first);
        engine.open(TestEngine.plain());
        await().until(() -> engine.provider.inventory().orphanDisks().containsKey(first));
        SandboxId second = engine.sandbox("t1").id();
        engine.stop();
        adopt();
        engine.open(TestEngine.plain());

        assertThat(engine.sandboxes.require(THREAD).id()).isEqualTo(second);
        assertThat(home.resolve("orphans/" + first + "/workspace/file")).hasContent("kept");
        engine.sandboxes.terminate(second, End.Cause.USER, "");
        engine.stop();
        adopt();
        engine.open(TestEngine.plain());
        assertThat(output(engine.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
    }

    @Test
    void unlabelledDiskBecomesAnOrphan() throws IOException {
        SandboxId id = sandboxWithAFile();
        Files.delete(home.resolve("disks/" + id + ".label"));
        loseStore();
        adopt();
        engine.open(TestEngine.plain());

        assertThat(engine.sandboxes.find(THREAD)).isEmpty();
        assertThat(home.resolve("orphans/" + id + "/workspace/file")).hasContent("kept");
    }

    @Test
    void walOfALostDatabaseIsKept() throws IOException {
        engine = TestEngine.at(home, TestEngine.plain());
        engine.stop();
        loseStore();
        Files.writeString(home.resolve("viv.db-wal"), "what is left");
        engine.open(TestEngine.plain());

        try (var entries = Files.newDirectoryStream(home, "viv.db-wal.lost-*")) {
            assertThat(entries.iterator().next()).hasContent("what is left");
        }
    }

    private SandboxId sandboxWithAFile() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        output(sandbox, "echo kept > file");
        engine.stop();
        return sandbox.id();
    }

    private SnapshotInfo sandboxWithASnapshot() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        output(sandbox, "echo kept > file");
        SnapshotInfo snapshot = engine.sandboxes.snapshots().take(sandbox, "a name = with \\ odd # characters: ü");
        engine.stop();
        return snapshot;
    }

    private void assertRefused(String why) {
        try (var provider = provider()) {
            var refused = failure(
                    Failure.InvalidRequest.class, () -> new HomeCheck(provider).openStore(home.resolve("viv.db")));
            assertThat(refused.sentence()).contains(why);
        }
    }

    private void adopt() {
        try (var provider = provider();
                var db = Db.sqlite(home.resolve("viv.db"))) {
            new Adoption(provider, db, InstantSource.system(), Duration.ofHours(1)).run();
        }
    }

    private void deleteRow(SandboxId id) {
        try (Db db = Db.sqlite(home.resolve("viv.db"))) {
            db.write(sql -> sql.update("delete from sandboxes where id = ?", id.value()));
        }
    }

    private void loseStore() throws IOException {
        Files.delete(home.resolve("viv.db"));
    }

    private Set<String> files() throws IOException {
        try (var all = Files.walk(home)) {
            return all.map(file -> home.relativize(file).toString())
                    .filter(name -> !name.startsWith("vivarium-"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private Provider provider() {
        return ProcessProvider.open(home, GuestPrograms.extractTo(home));
    }
}
