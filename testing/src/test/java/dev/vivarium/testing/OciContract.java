package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.image.Images;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/// Contract of the oci provider beyond the common contract, under a runtime that shares the kernel of the host.
abstract class OciContract extends IsolationContract implements HostTracesContract {
    abstract OciRuntime runtime();

    @Override
    protected Provider open(Path home, GuestPrograms programs) {
        return OciProvider.open(OciConfig.of(home, programs, runtime()));
    }

    @Test
    void failedStartLeavesNothing() throws IOException {
        var id = newId();
        var source = Files.createDirectories(home.resolve("source"));
        Files.createDirectory(source.resolve("usr"));
        var root = Images.open(home).importFrom("odd", source, line -> {}).root();
        Files.delete(root.resolve("proc"));
        Files.createFile(root.resolve("proc"));
        assertThatThrownBy(() -> provider().start(new MachineSpec(id, SECRET, "odd", SMALL, STORE)))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("proc");
        assertThat(provider().survivors()).isEmpty();
        assertThat(HostTraces.of(id, home)).isEmpty();
    }

    @Test
    void machineOnADeletedDiskIsNotAdopted() throws IOException {
        try (var box = start()) {
            restart();
            assertThat(provider().adopt(box.id(), TIMEOUT)).isPresent();
            try (var files = Files.walk(home.resolve("disks"))) {
                for (Path disk : files.filter(
                                file -> file.getFileName().toString().startsWith(box.id() + "."))
                        .toList()) {
                    Files.delete(disk);
                }
            }
            restart();
            assertThat(provider().adopt(box.id(), TIMEOUT)).isEmpty();
            provider().remove(box.id(), Disk.ERASE);
        }
    }

    /// After the death of a machine the kernel writes cached data when it unmounts the disk. An open directory
    /// delays that.
    @Test
    void snapshotOfADeadMachineWaitsForItsData() throws Exception {
        var snapshot = newSnapshot();
        try (var box = start();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            box.run("echo cached > file");
            var init = Files.readString(
                            home.resolve("run").resolve(box.id().value()).resolve("pid"))
                    .strip();
            Future<Long> taken;
            try (var held = Files.newDirectoryStream(Path.of("/proc/" + init + "/root/workspace"))) {
                assertThat(held).isNotNull();
                ProcessHandle.of(Long.parseLong(init)).orElseThrow().destroyForcibly();
                await().until(() -> !box.machine().isAlive());
                taken = threads.submit(() -> provider().snapshot(box.id(), snapshot));
                assertThatThrownBy(() -> taken.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
            }
            assertThat(taken.get()).isPositive();
        }
        try (var fork = fork(snapshot)) {
            assertThat(fork.output("cat file")).isEqualTo("cached");
        }
    }

    @Test
    void busyMachineYieldsToOthers() throws IOException {
        try (var box = start()) {
            box.machine().limit(new Limits(SMALL.memoryBytes(), 1, SMALL.processes(), SMALL.diskBytes()));
            long usual = weight(box.id());
            box.leave("while [ ! -e stop ]; do :; done");
            await().until(() -> weight(box.id()) < usual);
            box.run("touch stop");
            await().until(() -> weight(box.id()) == usual);
        }
    }

    @Test
    void machineAtItsProcessLimitHasASmallQuota() throws IOException {
        try (var box = start()) {
            long usual = quotaMicros(box.id());
            box.leave("perl -e 'fork while time < $^T + 6'");
            await().until(() -> quotaMicros(box.id()) < usual);
            box.machine().limit(SMALL);
            assertThat(quotaMicros(box.id())).as("new limits keep the quota").isLessThan(usual);
            await().until(() -> quotaMicros(box.id()) == usual);
        }
    }

    private static long weight(SandboxId id) throws IOException {
        return Long.parseLong(control(id, "cpu.shares", "cpu.weight"));
    }

    private static long quotaMicros(SandboxId id) throws IOException {
        return Long.parseLong(control(id, "cpu.cfs_quota_us", "cpu.max").split(" ", 2)[0]);
    }

    /// Reads a control file of the machine's cgroup, which has another name in version 2.
    private static String control(SandboxId id, String first, String second) throws IOException {
        var trace = "file /sys/fs/cgroup/";
        for (var found : HostTraces.of(id, Path.of("/nonexistent"))) {
            for (var name : List.of(first, second)) {
                var file = Path.of(found.replaceFirst("^file ", ""), name);
                if (found.startsWith(trace) && Files.exists(file)) {
                    return Files.readString(file).strip();
                }
            }
        }
        throw new IOException("no cgroup of " + id + " has " + first + " or " + second);
    }

    /// A runtime changes the owner of its standard streams to the machine's user, even if they are devices of the
    /// host.
    @Test
    void hostDevicesKeepTheirOwner() throws IOException {
        var device = Path.of("/dev/null");
        var owner = Files.getAttribute(device, "unix:uid");
        try (var box = start()) {
            assertThat(box.output("true")).isEmpty();
            assertThat(Files.getAttribute(device, "unix:uid")).isEqualTo(owner);
        }
    }

    @Test
    void incompleteMachineIsRemoved() throws IOException {
        var id = newId();
        var directory = Files.createDirectories(home.resolve("run").resolve(id.value()));
        Files.writeString(directory.resolve("slot"), "200");
        Files.writeString(directory.resolve("pid"), "1");
        Files.createDirectories(directory.resolve("state").resolve(id.value()));
        Files.writeString(home.resolve("disks").resolve(id + ".ext4.new"), "half a copy");
        assertThat(provider().survivors()).contains(id);
        assertThat(provider().adopt(id, TIMEOUT)).isEmpty();
        provider().remove(id, Disk.ERASE);
        assertThat(HostTraces.of(id, home)).isEmpty();
        assertThat(provider().survivors()).isEmpty();
    }

    @Test
    void secondServerOnTheSameHomeIsRejected() {
        try (var box = start()) {
            assertThatThrownBy(() -> open(home, programs)).hasMessageContaining("another server uses");
            assertThat(box.output("echo unharmed")).isEqualTo("unharmed");
        }
    }

    @Test
    void uncleanDiskIsRepaired() throws IOException {
        var id = newId();
        try (var box = start(id)) {
            box.run("echo precious > file; sync");
        }
        provider().remove(id, Disk.KEEP);
        // Simulates a power cut: the superblock is not marked clean.
        try (var image = FileChannel.open(home.resolve("disks").resolve(id + ".ext4"), StandardOpenOption.WRITE)) {
            image.write(ByteBuffer.wrap(new byte[] {0, 0}), 1024 + 58);
        }
        try (var box = start(id)) {
            assertThat(box.output("cat file")).isEqualTo("precious");
        }
    }

    @Test
    void snapshotsAreCopiesIfBlocksCannotBeShared() throws IOException {
        Files.createDirectory(home.resolve("disks").resolve("annex.xfs.new")); // Blocks the creation of the annex.
        try (var box = start()) {
            box.run("echo origin > file");
            var snapshot = save(box);
            box.run("echo other > file");
            assertThat(provider().capabilities().snapshots()).isEqualTo("copy");
            assertThat(home.resolve("disks").resolve("annex.xfs")).doesNotExist();
            try (var fork = fork(snapshot)) {
                assertThat(fork.output("cat file")).isEqualTo("origin");
            }
            provider().deleteSnapshot(snapshot);
        }
        assertThat(provider().snapshots()).isEmpty();
    }

    @Test
    void directoryDiskCanBeSavedAndRestored() throws IOException {
        var id = newId();
        Files.createDirectories(home.resolve("disks").resolve(id.value()));
        try (var box = start(id)) {
            box.run("echo origin > file");
            var snapshot = save(box);
            box.run("echo other > file");
            try (var fork = fork(snapshot)) {
                assertThat(fork.output("cat file; stat -c %U file")).isEqualTo("origin\n" + box.output("id -un"));
            }
        }
    }

    @Test
    void snapshotsShareTheirBlocks() throws IOException {
        try (var box = start()) {
            box.run("head -c 20000000 /dev/urandom > file");
            var annex = home.resolve("disks").resolve("annex.xfs");
            fork(save(box)).close();
            long before = allocated(annex);
            for (int i = 0; i < 5; i++) {
                fork(provider().snapshots().iterator().next()).close();
            }
            // Five copies of the file would take 100 MB.
            assertThat(allocated(annex) - before).isLessThan(20_000_000);
        }
    }

    /// Allocated bytes of a sparse file.
    private static long allocated(Path file) throws IOException {
        var process = new ProcessBuilder("du", "--block-size=1", file.toString()).start();
        try (var reader = process.inputReader()) {
            return Long.parseLong(reader.readLine().split("\\s")[0]);
        }
    }
}
