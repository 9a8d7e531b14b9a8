package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.provider.Label;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/// Contract of a provider that keeps snapshots.
@NullUnmarked // JUnit sets the fields up before each test, not the constructor.
public abstract class SnapshotContract extends ProviderContract {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int MIB = 1024 * 1024;

    protected static SnapshotId newSnapshot() {
        return SnapshotId.random(RANDOM);
    }

    protected SnapshotId save(Box box) {
        var snapshot = newSnapshot();
        box.machine().pause();
        provider().snapshot(box.id(), snapshot);
        box.machine().resume();
        return snapshot;
    }

    /// Starts a new machine with the files of a snapshot.
    protected Box fork(SnapshotId snapshot) {
        var id = newId();
        provider().restore(id, snapshot);
        return start(id);
    }

    private SnapshotId saveOf(String script) {
        try (var box = start()) {
            box.run(script);
            return save(box);
        }
    }

    @Test
    void snapshotKeepsTheFilesOfItsMoment() {
        try (var box = start()) {
            box.run("mkdir -m 750 deep && echo before > deep/file && ln -s deep/file link && chmod 640 deep/file");
            var snapshot = save(box);
            box.run("echo after > deep/file; rm link; echo more > more");
            try (var fork = fork(snapshot)) {
                assertThat(fork.output("cat link; stat -c '%a %U' deep deep/file; ls"))
                        .isEqualTo(box.output("echo before; stat -c '%a %U' deep deep/file; printf 'deep\\nlink'"));
            }
            assertThat(box.output("cat deep/file")).isEqualTo("after");
        }
    }

    @Test
    void orphanSnapshotIsRestoredWithItsLabel() {
        var snapshot = saveOf("echo kept > file");
        var label = new Label(STORE, Map.of("name", "first"));
        var inventory = provider().inventory();
        inventory.label(snapshot, label);
        inventory.setAside(snapshot, Instant.now());
        assertThat(provider().snapshots()).isEmpty();
        assertThat(inventory.orphanSnapshots()).isEqualTo(Map.of(snapshot, Optional.of(label)));

        inventory.restoreOrphan(snapshot);
        try (var fork = fork(snapshot)) {
            assertThat(fork.output("cat file")).isEqualTo("kept");
        }
        inventory.setAside(snapshot, Instant.EPOCH);
        assertThat(inventory.deleteOrphans(Instant.now())).containsExactly(snapshot.value());
        assertThat(inventory.orphanSnapshots()).isEmpty();
        assertThat(inventory.trace(snapshot).hasDisk()).isFalse();
    }

    @Test
    void forksAreIsolatedFromEachOther() {
        var snapshot = saveOf("echo origin > file");
        try (var one = fork(snapshot);
                var two = fork(snapshot)) {
            one.run("echo one > file; echo 1 > only-one; sync");
            two.run("echo two > file; sync");
            assertThat(one.output("cat file; ls")).isEqualTo("one\nfile\nonly-one");
            assertThat(two.output("cat file; ls")).isEqualTo("two\nfile");
        }
        try (var three = fork(snapshot)) {
            assertThat(three.output("cat file; ls")).isEqualTo("origin\nfile");
        }
    }

    @Test
    void aForkCanBeSavedAndForkedAgain() {
        var first = saveOf("echo first > file");
        SnapshotId second;
        try (var fork = fork(first)) {
            fork.run("echo second >> file");
            second = save(fork);
        }
        try (var fork = fork(second)) {
            assertThat(fork.output("cat file")).isEqualTo("first\nsecond");
        }
    }

    @Test
    void snapshotReplacesTheDiskOfAStoppedMachine() {
        SandboxId id;
        SnapshotId snapshot;
        try (var box = start()) {
            id = box.id();
            box.run("echo before > file");
            snapshot = save(box);
            box.run("echo after > file; echo more > more");
            assertThatThrownBy(() -> provider().restore(box.id(), snapshot)).hasMessageContaining("runs");
        }
        provider().remove(id, Disk.KEEP);
        provider().restore(id, snapshot);
        try (var box = start(id)) {
            assertThat(box.output("cat file; ls")).isEqualTo("before\nfile");
        }
        provider().remove(id, Disk.ERASE);
        assertThat(provider().survivors()).isEmpty();
    }

    @Test
    void snapshotSurvivesItsMachineAndAProviderRestart() {
        var box = start();
        box.run("echo kept > file");
        var snapshot = save(box);
        provider().remove(box.id(), Disk.ERASE);
        restart();
        assertThat(provider().snapshots()).containsExactly(snapshot);
        try (var fork = fork(snapshot)) {
            assertThat(fork.output("cat file")).isEqualTo("kept");
        }
    }

    @Test
    void runningForkSurvivesAProviderRestart() {
        var snapshot = saveOf("echo origin > file");
        var fork = fork(snapshot);
        fork.run("echo mine > file");
        restart();
        try (var again = adopt(fork.id())) {
            assertThat(again.output("cat file")).isEqualTo("mine");
            try (var other = fork(save(again))) {
                assertThat(other.output("cat file")).isEqualTo("mine");
            }
        }
        provider().remove(fork.id(), Disk.KEEP);
        try (var again = start(fork.id())) {
            assertThat(again.output("cat file")).isEqualTo("mine");
        }
    }

    @Test
    void stoppedMachineCanBeSaved() {
        var box = start();
        box.run("echo asleep > file");
        provider().remove(box.id(), Disk.KEEP);
        var snapshot = newSnapshot();
        provider().snapshot(box.id(), snapshot);
        try (var fork = fork(snapshot)) {
            assertThat(fork.output("cat file")).isEqualTo("asleep");
        }
    }

    @Test
    void forksSurviveTheDeletionOfTheirSnapshot() {
        var snapshot = saveOf("echo kept > file");
        try (var fork = fork(snapshot)) {
            provider().deleteSnapshot(snapshot);
            provider().deleteSnapshot(snapshot);
            assertThat(provider().snapshots()).isEmpty();
            var id = newId();
            assertThatThrownBy(() -> provider().restore(id, snapshot))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("is not here");
            assertThat(provider().survivors()).doesNotContain(id);
            assertThat(fork.output("cat file")).isEqualTo("kept");
        }
    }

    @Test
    void snapshotReportsItsSize() {
        try (var box = start()) {
            box.run("head -c 5242880 /dev/urandom > file");
            box.machine().pause();
            assertThat(provider().snapshot(box.id(), newSnapshot())).isBetween(5L * MIB, 6L * MIB);
            box.machine().resume();
        }
    }

    @Test
    void unknownMachineCannotBeSaved() {
        var snapshot = newSnapshot();
        assertThatThrownBy(() -> provider().snapshot(newId(), snapshot)).isInstanceOf(SandboxException.class);
        assertThat(provider().snapshots()).isEmpty();
    }
}
