package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.guest.GuestLoop;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Label;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Contract of every provider. A subclass opens the provider; each test has a home of its own. A provider whose
/// machines are on this host also passes [HostTracesContract], and one that keeps snapshots passes [SnapshotContract].
@NullUnmarked // JUnit sets the fields up before each test, not the constructor.
public abstract class ProviderContract {
    protected static final String SECRET = "a secret of the test";
    protected static final StoreId STORE = new StoreId("0123456789abcdef");
    protected static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long MIB = 1024 * 1024;
    protected static final Limits SMALL = new Limits(128 * MIB, 1, 64, 64 * MIB);

    private static final SecureRandom RANDOM = new SecureRandom();

    protected Path home;
    protected GuestPrograms programs;
    private GuestLoop loop;
    private Provider provider;

    protected abstract Provider open(Path home, GuestPrograms programs);

    /// Number of machines that a test starts at once.
    protected int concurrentMachines() {
        return 20;
    }

    @BeforeEach
    void openProvider() throws IOException {
        loop = GuestLoop.start();
        home = Files.createTempDirectory("viv-").toRealPath();
        programs = GuestPrograms.extractTo(home.resolve("bin"));
        provider = open(home, programs);
    }

    @AfterEach
    void closeProvider() throws IOException {
        for (var id : provider.survivors()) {
            provider.remove(id, Disk.ERASE);
        }
        assertThat(provider.survivors()).isEmpty();
        provider.close();
        loop.close();
        FileTrees.delete(home);
    }

    public Provider provider() {
        return provider;
    }

    public Path home() {
        return home;
    }

    protected static SandboxId newId() {
        return SandboxId.random(RANDOM);
    }

    protected MachineSpec spec(SandboxId id) {
        return new MachineSpec(id, SECRET, "host", SMALL, STORE);
    }

    public Box start() {
        return start(newId());
    }

    protected Box start(SandboxId id) {
        return Box.connect(loop, provider.start(spec(id)), SECRET);
    }

    protected Box adopt(SandboxId id) {
        return Box.connect(loop, provider.adopt(id, TIMEOUT).orElseThrow(), SECRET);
    }

    /// Opens another provider object on the same home, as after a crash of the server.
    protected void restart() {
        provider.close();
        loop.close();
        loop = GuestLoop.start();
        provider = open(home, programs);
    }

    @Test
    void aCommandRunsAfterTheStart() {
        try (var box = start()) {
            assertThat(box.output("echo hello from $PWD"))
                    .isEqualTo("hello from " + box.machine().workspace());
            assertThat(box.machine().isAlive()).isTrue();
        }
    }

    @Test
    void guestReconnectsAfterTheStreamBreaks() {
        var box = start();
        box.leave("echo still here > note");
        box.close();
        try (var again = Box.connect(loop, box.machine(), SECRET)) {
            assertThat(again.output("until [ -s note ]; do sleep 0.01; done; cat note"))
                    .isEqualTo("still here");
        }
    }

    @Test
    void filesSurviveARemovalThatKeepsTheDisk() {
        var id = newId();
        try (var box = start(id)) {
            box.run("mkdir -p deep/er && echo kept > deep/er/file && chmod 750 deep/er");
        }
        provider.remove(id, Disk.KEEP);
        assertThat(provider.adopt(id, Duration.ZERO)).isEmpty();
        try (var box = start(id)) {
            assertThat(box.output("cat deep/er/file; stat -c %a deep/er")).isEqualTo("kept\n750");
        }
    }

    @Test
    void machineAndDiskRecordTheIdOfTheirStore() {
        var id = newId();
        start(id).close();
        var inventory = provider.inventory();
        assertThat(inventory.trace(id).store()).contains(STORE);
        assertThat(inventory.trace(id).isUnused()).isTrue();

        inventory.recordUse(id);
        assertThat(inventory.trace(id).isUnused()).isFalse();
        provider.remove(id, Disk.KEEP);
        assertThat(inventory.trace(id).hasMachine()).isFalse();
        assertThat(inventory.trace(id).hasDisk()).isTrue();
        assertThat(inventory.trace(id).store()).contains(STORE);

        start(id).close();
        assertThat(inventory.trace(id).isUnused())
                .as("the disk was used before")
                .isFalse();
    }

    @Test
    void orphanDiskIsRestoredWithItsFilesAndLabel() {
        var id = newId();
        var label = new Label(new StoreId("fedcba9876543210"), Map.of("thread", "t = 1\nü"));
        try (var box = start(id)) {
            box.run("echo kept > file");
        }
        provider.remove(id, Disk.KEEP);
        var inventory = provider.inventory();
        inventory.label(id, label);
        inventory.setAside(id, Instant.now());
        assertThat(provider.survivors()).isEmpty();
        assertThat(inventory.deleteOrphans(Instant.now().minusSeconds(3600))).isEmpty();
        assertThat(inventory.orphanDisks()).isEqualTo(Map.of(id, Optional.of(label)));

        inventory.restoreOrphan(id);
        assertThat(inventory.orphanDisks()).isEmpty();
        assertThat(inventory.trace(id).label()).contains(label);
        try (var box = start(id)) {
            assertThat(box.output("cat file")).isEqualTo("kept");
        }
    }

    @Test
    void erasedDiskLosesItsFiles() {
        var id = newId();
        try (var box = start(id)) {
            box.run("echo gone > file");
        }
        provider.remove(id, Disk.ERASE);
        try (var box = start(id)) {
            assertThat(box.output("ls -A")).isEmpty();
        }
    }

    @Test
    void pauseStopsEveryProcessUntilResume() {
        try (var box = start()) {
            box.leave("while :; do :; done");
            await().until(() -> box.machine().usage().cpu().compareTo(Duration.ofMillis(50)) > 0);
            box.machine().pause();
            var frozen = box.machine().usage().cpu();
            await().during(Duration.ofMillis(300))
                    .until(() -> box.machine().usage().cpu().equals(frozen));
            box.machine().resume();
            await().until(() -> box.machine().usage().cpu().compareTo(frozen) > 0);
            assertThat(box.output("echo awake")).isEqualTo("awake");
        }
    }

    @Test
    void pauseAndResumeAreIdempotent() {
        try (var box = start()) {
            box.machine().pause();
            box.machine().pause();
            box.machine().resume();
            box.machine().resume();
            assertThat(box.output("echo awake")).isEqualTo("awake");
        }
    }

    @Test
    void aPausedMachineCanBeRemoved() {
        try (var box = start()) {
            box.leave("sleep 1000");
            box.machine().pause();
            provider.remove(box.id(), Disk.ERASE);
            assertThat(provider.survivors()).isEmpty();
        }
    }

    @Test
    void machineSurvivesARestartOfItsProvider() {
        var id = newId();
        var box = start(id);
        box.leave("echo $$ > pid; exec sleep 1000");
        await().untilAsserted(() -> assertThat(box.output("cat pid")).isNotEmpty());
        restart();
        assertThat(provider.survivors()).contains(id);
        try (var again = adopt(id)) {
            assertThat(again.output("kill -0 $(cat pid) && echo alive")).isEqualTo("alive");
        }
    }

    @Test
    void unknownMachineIsNotAdopted() {
        assertThat(provider.adopt(newId(), Duration.ZERO)).isEmpty();
    }

    @Test
    void survivorsAreRunningMachinesAndKeptDisks() {
        var running = start().id();
        var kept = start().id();
        provider.remove(kept, Disk.KEEP);
        var erased = start().id();
        provider.remove(erased, Disk.ERASE);
        assertThat(provider.survivors()).containsExactlyInAnyOrder(running, kept);
    }

    @Test
    void removeIsIdempotentAndIgnoresUnknownIds() {
        var id = start().id();
        provider.remove(id, Disk.ERASE);
        provider.remove(id, Disk.ERASE);
        provider.remove(newId(), Disk.ERASE);
    }

    @Test
    void anUnknownImageLeavesNothing() {
        var id = newId();
        assertThatThrownBy(() -> provider.start(new MachineSpec(id, SECRET, "no-such-image", SMALL, STORE)))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("image");
        assertThat(provider.survivors()).isEmpty();
    }

    @Test
    void runningMachineIsNotStartedAgain() {
        try (var box = start()) {
            assertThatThrownBy(() -> provider.start(spec(box.id()))).hasMessageContaining("runs already");
            assertThat(box.output("echo unharmed")).isEqualTo("unharmed");
        }
    }

    @Test
    void exitOfTheGuestIsDetected() {
        var box = start();
        box.guest().shutdown();
        await().until(() -> !box.machine().isAlive());
        assertThatThrownBy(() -> box.machine().connect(TIMEOUT))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("its init has ended");
        assertThat(provider.adopt(box.id(), Duration.ZERO)).isEmpty();
    }

    @Test
    void wrongSecretIsRejected() {
        var machine = provider.start(spec(newId()));
        assertThatThrownBy(() -> Box.connect(loop, machine, "another")).isInstanceOf(SandboxException.class);
    }

    @Test
    void concurrentMachinesAreIsolated() throws Exception {
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            var starts = IntStream.range(0, concurrentMachines())
                    .mapToObj(number -> (Callable<String>) () -> {
                        try (var box = start()) {
                            box.run("echo " + number + " > number");
                            return box.output("cat number; ls | wc -l").replace("\n", " ") + " of " + number;
                        }
                    })
                    .toList();
            for (var result : executor.invokeAll(starts)) {
                assertThat(result.get()).matches("(\\d+) 1 of \\1");
            }
        }
        assertThat(provider.survivors()).hasSize(concurrentMachines());
    }
}
