package dev.vivarium.core.provider.oci;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Ranges of 65,536 users, one for each machine, unique on this host. A server allocates them in blocks. Each block has
/// a file that is locked while the server runs and that names its run directory, so that the block stays allocated
/// while machines of a dead server continue. Thread-safe.
final class UidSlots implements AutoCloseable {
    static final int RANGE = 65_536;
    /// The ranges below are for users of the host and for `/etc/subuid` of distributions.
    private static final int FIRST_RANGE = 16;
    private static final int BLOCK = 256;
    /// Half of the numbers of the kernel, so that every user id fits an int.
    private static final int BLOCKS = (32_768 - FIRST_RANGE) / BLOCK;

    /// Locked files of all providers of this process. The locks belong to the process, not to a channel: opening
    /// and closing such a file again would release them.
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final Path owner;

    private final Object lock = new Object();

    @GuardedBy("lock")
    private final BitSet free = new BitSet();

    @GuardedBy("lock")
    private final Map<Path, FileChannel> held = new HashMap<>();

    private UidSlots(Path directory, Path owner) {
        this.directory = directory;
        this.owner = owner;
    }

    /// Allocates the blocks of `owner`, a run directory, again. The first new block is allocated with the first
    /// slot.
    static UidSlots open(Path directory, Path owner) throws IOException {
        Files.createDirectories(directory);
        var slots = new UidSlots(directory, owner);
        try {
            for (int block = 0; block < BLOCKS; block++) {
                if (ownerOf(directory.resolve(Integer.toString(block))).equals(owner.toString())) {
                    slots.takeAgain(block);
                }
            }
            return slots;
        } catch (IOException | RuntimeException e) {
            slots.close();
            throw e;
        }
    }

    /// First user id of the range of a slot.
    static int base(int slot) {
        return (FIRST_RANGE + slot) * RANGE;
    }

    /// Marks the slot of an existing machine.
    void claim(int slot) {
        synchronized (lock) {
            free.clear(slot);
        }
    }

    int take() throws IOException {
        synchronized (lock) {
            int slot = free.nextSetBit(0);
            if (slot < 0) {
                takeAnotherBlockLocked();
                slot = free.nextSetBit(0);
            }
            free.clear(slot);
            return slot;
        }
    }

    void release(int slot) {
        synchronized (lock) {
            free.set(slot);
        }
    }

    private void takeAgain(int block) throws IOException {
        synchronized (lock) {
            if (!tryTakeLocked(block)) {
                throw new SandboxException(new Failure.ProviderFailed(
                        "open the provider", "another server uses " + owner + "; stop it first"));
            }
        }
    }

    @GuardedBy("lock")
    private void takeAnotherBlockLocked() throws IOException {
        for (int block = 0; block < BLOCKS; block++) {
            var before = ownerOf(directory.resolve(Integer.toString(block)));
            if (!before.equals(owner.toString()) && !hasMachines(before) && tryTakeLocked(block)) {
                return;
            }
        }
        throw new SandboxException(
                new Failure.ProviderFailed("find a range of users", "all are taken by machines on this host"));
    }

    @GuardedBy("lock")
    private boolean tryTakeLocked(int block) throws IOException {
        var file = directory.resolve(Integer.toString(block));
        var lockFile = directory.resolve(block + ".lock");
        if (!HELD.add(lockFile)) {
            return false;
        }
        var channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        // The owner is checked again under the lock, because another server may have used the block since.
        if (channel.tryLock() != null && !isForeign(ownerOf(file))) {
            Files.writeString(file, owner.toString());
            held.put(lockFile, channel);
            free.set(block * BLOCK, (block + 1) * BLOCK);
            return true;
        }
        channel.close();
        HELD.remove(lockFile);
        return false;
    }

    private boolean isForeign(String other) throws IOException {
        return !other.equals(owner.toString()) && hasMachines(other);
    }

    private static String ownerOf(Path file) throws IOException {
        return Files.exists(file) ? Files.readString(file, StandardCharsets.UTF_8) : "";
    }

    private static boolean hasMachines(String runDirectory) throws IOException {
        if (runDirectory.isEmpty() || !Files.isDirectory(Path.of(runDirectory))) {
            return false;
        }
        return !RunDirectory.list(Path.of(runDirectory)).isEmpty();
    }

    @Override
    public void close() {
        synchronized (lock) {
            for (var lockFile : held.entrySet()) {
                closeQuietly(lockFile.getValue());
                HELD.remove(lockFile.getKey());
            }
            held.clear();
            free.clear();
        }
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // The descriptor is closed in any case, which releases the lock.
        }
    }
}
