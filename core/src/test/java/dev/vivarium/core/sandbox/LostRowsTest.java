package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.House.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The server keeps the disks of a store that has the right id and has lost rows.
class LostRowsTest {
    private static final ThreadId THREAD = new ThreadId("t1");

    @TempDir
    Path home;

    private House house;

    @AfterEach
    void close() {
        house.close();
    }

    @Test
    void aDiskWithoutARowIsKeptWithItsFiles() {
        SandboxId id = sandboxWithAFile();
        forget(id);
        house.open(House.plain());

        awaitOrphan(id);
        assertThat(house.provider.survivors()).isEmpty();
        assertThat(house.provider.inventory().orphanDisks().get(id).flatMap(LabelFields::sandbox))
                .hasValueSatisfying(
                        described -> assertThat(described.owner().thread()).isEqualTo(THREAD));
    }

    @Test
    void anOrphanIsDeletedWhenItsTimeIsOver() {
        SandboxId id = sandboxWithAFile();
        forget(id);
        house.open(House.plain());
        awaitOrphan(id);
        house.stop();

        house.time.advance(Duration.ofDays(6));
        house.open(House.plain());
        house.awaitFirstPass();
        assertThat(orphan(id)).exists();
        house.stop();

        house.time.advance(Duration.ofDays(2));
        house.open(House.plain());
        house.awaitFirstPass();
        assertThat(house.provider.inventory().orphanDisks()).isEmpty();
        assertThat(orphan(id).getParent().getParent()).doesNotExist();
    }

    @Test
    void aDiskComesBackWhenItsRowIsBack() throws IOException {
        SandboxId id = sandboxWithAFile();
        Path newer = home.resolve("newer.db");
        Files.copy(home.resolve("viv.db"), newer);
        forget(id);
        house.open(House.plain());
        awaitOrphan(id);
        house.stop();

        Files.move(newer, home.resolve("viv.db"), StandardCopyOption.REPLACE_EXISTING);
        house.open(House.plain());
        assertThat(output(house.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
        assertThat(house.provider.inventory().orphanDisks()).isEmpty();
    }

    @Test
    void aMachineThatWasHandedOutAfterTheStoreWasCopiedDoesNotReturnToThePool() {
        house = House.at(home, House.plain().withPoolSize(1));
        await().until(() -> house.sandboxes.pool().available() == 1);
        Sandbox sandbox = house.sandbox("t1");
        output(sandbox, "echo kept > file");
        house.stop();
        change("update sandboxes set status = 'pooled', thread_id = null, user_id = null where id = ?", sandbox.id());
        house.open(House.plain().withPoolSize(1));

        awaitOrphan(sandbox.id());
        assertThat(output(house.sandbox("t2"), "ls")).isEmpty();
    }

    @Test
    void anOldRowOfThePoolDoesNotBringAnOrphanBack() throws IOException {
        SandboxId id = sandboxWithAFile();
        change("update sandboxes set status = 'pooled', thread_id = null, user_id = null where id = ?", id);
        Files.delete(home.resolve("disks/" + id + ".label"));
        Path old = Files.copy(home.resolve("viv.db"), home.resolve("old.db"));
        house.open(House.plain());
        awaitOrphan(id);
        house.stop();

        Files.move(old, home.resolve("viv.db"), StandardCopyOption.REPLACE_EXISTING);
        house.open(House.plain());
        await().until(() -> house.rowsAlive().isEmpty());
        house.awaitFirstPass();
        assertThat(orphan(id)).hasContent("kept");
    }

    @Test
    void aMachineOfThePoolThatTheStoreHasForgottenIsRemoved() {
        house = House.at(home, House.plain().withPoolSize(1));
        await().until(() -> house.sandboxes.pool().available() == 1);
        SandboxId id = house.provider.survivors().iterator().next();
        stopWithoutRemoving();
        forget(id);
        house.open(House.plain());

        await().untilAsserted(house::assertNothingRemains);
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void aMachineOfThePoolThatDiedWithTheHostIsRemoved() throws IOException {
        house = House.at(home, House.plain().withPoolSize(1));
        await().until(() -> house.sandboxes.pool().available() == 1);
        SandboxId id = house.provider.survivors().iterator().next();
        stopWithoutRemoving();
        house.killGuest(id);
        FileTrees.delete(home.resolve("run").resolve(id.value()));
        house.open(House.plain());

        await().untilAsserted(house::assertNothingRemains);
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void aSandboxThatCannotBeStartedAgainKeepsItsDiskUntilItCan() {
        SandboxId id = sandboxWithAFile();
        house.killGuest(id);
        house.open(House.plain(), provider -> provider.fail(Step.START, 4));

        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(output(house.sandboxes.require(THREAD), "cat file"))
                        .isEqualTo("kept"));
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void aSandboxThatEndsTakesItsLabelAlong() {
        SandboxId id = sandboxWithAFile();
        house.open(House.plain());
        house.sandboxes.terminate(id, End.Cause.USER, "");

        assertThat(home.resolve("disks")).isEmptyDirectory();
        house.awaitFirstPass();
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void aSnapshotWithoutARowIsKept() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        output(sandbox, "echo kept > file");
        SnapshotInfo snapshot = house.sandboxes.snapshots().take(sandbox, "named");
        house.stop();
        change("delete from snapshots where snapshot_id = ?", snapshot.id());
        house.open(House.plain());

        await().until(() -> Files.exists(home.resolve("orphans/" + snapshot.id() + "/workspace/file")));
        await().untilAsserted(() -> assertThat(house.provider.snapshots()).isEmpty());
    }

    @Test
    void aHomeOfAnOlderVersionIsLabelled() throws IOException {
        SandboxId id = sandboxWithAFile();
        Files.delete(home.resolve("disks/" + id + ".label"));
        Files.delete(home.resolve("run/" + id + "/store"));
        house.open(House.plain());

        assertThat(output(house.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
        await().until(() -> house.provider.inventory().trace(id).hasOwner());
    }

    private SandboxId sandboxWithAFile() {
        house = House.at(home, House.plain());
        Sandbox sandbox = house.sandbox("t1");
        output(sandbox, "echo kept > file");
        house.stop();
        return sandbox.id();
    }

    /// Stops the server as a crash would: the machines of the pool stay.
    private void stopWithoutRemoving() {
        house.provider.fail(Step.REMOVE, Integer.MAX_VALUE);
        house.stop();
    }

    private void forget(SandboxId id) {
        change("delete from sandboxes where id = ?", id);
    }

    private void change(String statement, Object id) {
        try (Db db = Db.sqlite(home.resolve("viv.db"))) {
            db.write(sql -> sql.update(statement, id.toString()));
        }
    }

    private void awaitOrphan(SandboxId id) {
        await().until(() -> Files.exists(orphan(id)));
        assertThat(orphan(id)).hasContent("kept");
    }

    private Path orphan(SandboxId id) {
        return home.resolve("orphans").resolve(id.value()).resolve("workspace").resolve("file");
    }
}
