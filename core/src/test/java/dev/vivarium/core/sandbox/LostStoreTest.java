package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.failure;
import static dev.vivarium.core.sandbox.House.output;
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
import dev.vivarium.model.ThreadId;
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

/// A home whose store is lost or is another server's, and how its disks come back.
class LostStoreTest {
    private static final ThreadId THREAD = new ThreadId("t1");

    @TempDir
    Path home;

    private House house;

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void aHomeWithoutItsStoreIsRefusedAndNothingChanges() throws IOException {
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
        house.open(House.plain());
    }

    @Test
    void aHomeIsRefusedWithTheStoreOfAnotherServer() throws IOException {
        sandboxWithAFile();
        loseStore();
        Db.sqlite(home.resolve("viv.db")).close();
        assertRefused("The store is new, or has lost its rows");
        adopt();
        house.open(House.plain());
    }

    @Test
    void aHomeWithItsOwnStoreIsAccepted() {
        sandboxWithAFile();
        try (var provider = provider();
                var db = new HomeCheck(provider).openStore(home.resolve("viv.db"))) {
            assertThat(new HomeCheck(provider).belongsTo(db)).isTrue();
        }
        house.open(House.plain());
    }

    @Test
    void aHomeOfAnOlderVersionIsAcceptedIfTheStoreHasItsRows() throws IOException {
        SandboxId id = sandboxWithAFile();
        Files.delete(home.resolve("disks/" + id + ".label"));
        Files.delete(home.resolve("run/" + id + "/store"));
        try (var provider = provider();
                var db = new HomeCheck(provider).openStore(home.resolve("viv.db"))) {
            db.write(sql -> sql.update("delete from sandboxes where id = ?", id.value()));
        }
        assertRefused("The store is new, or has lost its rows");
        house.open(House.plain());
    }

    @Test
    void theSameHoldsForPostgres() {
        sandboxWithAFile();
        var address = PostgresAddress.of(PostgresServer.shared().newDatabase());
        try (var provider = provider()) {
            var check = new HomeCheck(provider);
            failure(Failure.InvalidRequest.class, () -> check.checked(Db.postgres(address)));
            try (var db = Db.postgres(address)) {
                new Adoption(provider, db, InstantSource.system(), Duration.ofHours(1)).run();
            }
            check.checked(Db.postgres(address)).close();
        }
        house.open(House.plain());
    }

    @Test
    void anAdoptedSandboxHasItsFilesUnderItsThread() throws IOException {
        SandboxId id = sandboxWithAFile();
        loseStore();
        adopt();
        house.open(House.plain());

        Sandbox adopted = house.sandboxes.require(THREAD);
        assertThat(adopted.id()).isEqualTo(id);
        assertThat(adopted.owner().user()).isEqualTo(House.ANN);
        assertThat(output(adopted, "cat file")).isEqualTo("kept");
        assertThat(house.provider.inventory().trace(id).store()).contains(house.db.id());
    }

    @Test
    void anAdoptedSnapshotCanBeRestored() throws IOException {
        SnapshotInfo snapshot = sandboxWithASnapshot();
        loseStore();
        adopt();
        house.open(House.plain());

        Sandbox adopted = house.sandboxes.require(THREAD);
        output(adopted, "rm file");
        assertThat(house.sandboxes.snapshots().list(THREAD)).containsExactly(snapshot);
        house.sandboxes.snapshots().restore(adopted, snapshot);
        assertThat(output(adopted, "cat file")).isEqualTo("kept");
    }

    @Test
    void anOrphanComesBackWhenItsThreadIsFree() {
        SandboxId first = sandboxWithAFile();
        forget(first);
        house.open(House.plain());
        await().until(() -> house.provider.inventory().orphanDisks().containsKey(first));
        SandboxId second = house.sandbox("t1").id();
        house.stop();
        adopt();
        house.open(House.plain());

        assertThat(house.sandboxes.require(THREAD).id()).isEqualTo(second);
        assertThat(home.resolve("orphans/" + first + "/workspace/file")).hasContent("kept");
        house.sandboxes.terminate(second, End.Cause.USER, "");
        house.stop();
        adopt();
        house.open(House.plain());
        assertThat(output(house.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
    }

    @Test
    void aDiskWithoutALabelGoesToOrphans() throws IOException {
        SandboxId id = sandboxWithAFile();
        Files.delete(home.resolve("disks/" + id + ".label"));
        loseStore();
        adopt();
        house.open(House.plain());

        assertThat(house.sandboxes.find(THREAD)).isEmpty();
        assertThat(home.resolve("orphans/" + id + "/workspace/file")).hasContent("kept");
    }

    @Test
    void theLogOfALostDatabaseIsKept() throws IOException {
        house = House.at(home, House.plain());
        house.stop();
        loseStore();
        Files.writeString(home.resolve("viv.db-wal"), "what is left");
        house.open(House.plain());

        try (var entries = Files.newDirectoryStream(home, "viv.db-wal.lost-*")) {
            assertThat(entries.iterator().next()).hasContent("what is left");
        }
    }

    private SandboxId sandboxWithAFile() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        output(sandbox, "echo kept > file");
        house.stop();
        return sandbox.id();
    }

    private SnapshotInfo sandboxWithASnapshot() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        output(sandbox, "echo kept > file");
        SnapshotInfo snapshot = house.sandboxes.snapshots().take(sandbox, "a name = with \\ odd # characters: ü");
        house.stop();
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

    private void forget(SandboxId id) {
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
