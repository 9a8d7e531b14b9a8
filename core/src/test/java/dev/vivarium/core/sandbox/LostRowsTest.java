package dev.vivarium.core.sandbox;

import static dev.vivarium.core.sandbox.TestEngine.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadKey;
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
    private static final ThreadKey THREAD = TestEngine.thread("t1");

    @TempDir
    Path home;

    private TestEngine engine;

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void diskWithoutARowIsKeptAsAnOrphan() {
        SandboxId id = sandboxWithAFile();
        deleteRow(id);
        engine.open(TestEngine.plain());

        awaitOrphan(id);
        assertThat(engine.provider.survivors()).isEmpty();
        assertThat(engine.provider.inventory().orphanDisks().get(id).flatMap(LabelFields::sandbox))
                .hasValueSatisfying(
                        described -> assertThat(described.owner().thread()).isEqualTo(THREAD.thread()));
    }

    @Test
    void orphanIsDeletedAfterItsRetention() {
        SandboxId id = sandboxWithAFile();
        deleteRow(id);
        engine.open(TestEngine.plain());
        awaitOrphan(id);
        engine.stop();

        engine.time.advance(Duration.ofDays(6));
        engine.open(TestEngine.plain());
        engine.awaitFirstPass();
        assertThat(orphan(id)).exists();
        engine.stop();

        engine.time.advance(Duration.ofDays(2));
        engine.open(TestEngine.plain());
        engine.awaitFirstPass();
        assertThat(engine.provider.inventory().orphanDisks()).isEmpty();
        assertThat(orphan(id).getParent().getParent()).doesNotExist();
    }

    @Test
    void orphanDiskReturnsWithItsRow() throws IOException {
        SandboxId id = sandboxWithAFile();
        Path newer = home.resolve("newer.db");
        Files.copy(home.resolve("viv.db"), newer);
        deleteRow(id);
        engine.open(TestEngine.plain());
        awaitOrphan(id);
        engine.stop();

        Files.move(newer, home.resolve("viv.db"), StandardCopyOption.REPLACE_EXISTING);
        engine.open(TestEngine.plain());
        assertThat(output(engine.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
        assertThat(engine.provider.inventory().orphanDisks()).isEmpty();
    }

    @Test
    void usedMachineWithAPooledRowBecomesAnOrphan() {
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1));
        await().until(() -> engine.sandboxes.pool().available() == 1);
        Sandbox sandbox = engine.sandbox("t1");
        output(sandbox, "echo kept > file");
        engine.stop();
        update("update sandboxes set status = 'pooled', thread_id = null, user_id = null where id = ?", sandbox.id());
        engine.open(TestEngine.plain().withPoolSize(1));

        awaitOrphan(sandbox.id());
        assertThat(output(engine.sandbox("t2"), "ls")).isEmpty();
    }

    @Test
    void pooledRowDoesNotRestoreAnOrphan() throws IOException {
        SandboxId id = sandboxWithAFile();
        update("update sandboxes set status = 'pooled', thread_id = null, user_id = null where id = ?", id);
        Files.delete(home.resolve("disks/" + id + ".label"));
        Path old = Files.copy(home.resolve("viv.db"), home.resolve("old.db"));
        engine.open(TestEngine.plain());
        awaitOrphan(id);
        engine.stop();

        Files.move(old, home.resolve("viv.db"), StandardCopyOption.REPLACE_EXISTING);
        engine.open(TestEngine.plain());
        await().until(() -> engine.rowsAlive().isEmpty());
        engine.awaitFirstPass();
        assertThat(orphan(id)).hasContent("kept");
    }

    @Test
    void pooledMachineWithoutARowIsRemoved() {
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1));
        await().until(() -> engine.sandboxes.pool().available() == 1);
        SandboxId id = engine.provider.survivors().iterator().next();
        stopWithoutRemoving();
        deleteRow(id);
        engine.open(TestEngine.plain());

        await().untilAsserted(engine::assertNothingRemains);
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void deadPooledMachineIsRemoved() throws IOException {
        engine = TestEngine.at(home, TestEngine.plain().withPoolSize(1));
        await().until(() -> engine.sandboxes.pool().available() == 1);
        SandboxId id = engine.provider.survivors().iterator().next();
        stopWithoutRemoving();
        engine.killGuest(id);
        FileTrees.delete(home.resolve("run").resolve(id.value()));
        engine.open(TestEngine.plain());

        await().untilAsserted(engine::assertNothingRemains);
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void failedRestartOfASandboxKeepsItsDisk() {
        SandboxId id = sandboxWithAFile();
        engine.killGuest(id);
        engine.open(TestEngine.plain(), provider -> provider.fail(Step.START, 4));

        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(output(engine.sandboxes.require(THREAD), "cat file"))
                        .isEqualTo("kept"));
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void terminationDeletesTheDiskLabel() {
        SandboxId id = sandboxWithAFile();
        engine.open(TestEngine.plain());
        engine.sandboxes.terminate(id, End.Cause.USER, "");

        assertThat(home.resolve("disks")).isEmptyDirectory();
        engine.awaitFirstPass();
        assertThat(home.resolve("orphans")).doesNotExist();
    }

    @Test
    void snapshotWithoutARowIsKeptAsAnOrphan() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        output(sandbox, "echo kept > file");
        SnapshotInfo snapshot = engine.sandboxes.snapshots().take(sandbox, "named");
        engine.stop();
        update("delete from snapshots where snapshot_id = ?", snapshot.id());
        engine.open(TestEngine.plain());

        await().until(() -> Files.exists(home.resolve("orphans/" + snapshot.id() + "/workspace/file")));
        await().untilAsserted(() -> assertThat(engine.provider.snapshots()).isEmpty());
    }

    @Test
    void homeOfAnOlderVersionGetsLabels() throws IOException {
        SandboxId id = sandboxWithAFile();
        Files.delete(home.resolve("disks/" + id + ".label"));
        Files.delete(home.resolve("run/" + id + "/store"));
        engine.open(TestEngine.plain());

        assertThat(output(engine.sandboxes.require(THREAD), "cat file")).isEqualTo("kept");
        await().until(() -> engine.provider.inventory().trace(id).hasOwner());
    }

    private SandboxId sandboxWithAFile() {
        engine = TestEngine.at(home, TestEngine.plain());
        Sandbox sandbox = engine.sandbox("t1");
        output(sandbox, "echo kept > file");
        engine.stop();
        return sandbox.id();
    }

    /// Stops the server as a crash would. The machines of the pool stay.
    private void stopWithoutRemoving() {
        engine.provider.fail(Step.REMOVE, Integer.MAX_VALUE);
        engine.stop();
    }

    private void deleteRow(SandboxId id) {
        update("delete from sandboxes where id = ?", id);
    }

    private void update(String statement, Object id) {
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
