package dev.vivarium.core.provider.oci;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.HostTool;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;

/// File with an ext4 file system, described by its superblock. Immutable.
record Ext4Image(Path path) {
    private static final int SUPERBLOCK = 1024;
    private static final int BLOCKS = 4;
    private static final int FREE_BLOCKS = 12;
    private static final int BLOCK_SIZE = 24;
    private static final int STATE = 58;
    private static final int CLEAN = 1;
    private static final int LABEL = 120;
    private static final int LABEL_BYTES = 16;
    private static final int READ = 136;

    /// Size of the file system, in bytes.
    long bytes() throws IOException {
        var superblock = superblock();
        return number(superblock, BLOCKS) << (10 + superblock.getInt(BLOCK_SIZE));
    }

    /// Used space in bytes, including metadata. Exact after an unmount or a repair.
    long usedBytes() throws IOException {
        var superblock = superblock();
        long used = number(superblock, BLOCKS) - number(superblock, FREE_BLOCKS);
        return used << (10 + superblock.getInt(BLOCK_SIZE));
    }

    /// The id of the store whose template was copied, or that adopted the image.
    Optional<StoreId> store() throws IOException {
        var bytes = new byte[LABEL_BYTES];
        superblock().get(LABEL, bytes);
        return StoreId.parse(new String(bytes, StandardCharsets.US_ASCII));
    }

    /// Changes the label of an image that is not mounted. The superblock has no checksum: see [Disks].
    void writeStore(StoreId store) throws IOException {
        var label = ByteBuffer.wrap(store.value().getBytes(StandardCharsets.US_ASCII));
        try (var channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.write(label, SUPERBLOCK + LABEL);
        }
    }

    /// Checks and repairs an image that was not unmounted.
    void repair() throws IOException {
        if ((superblock().getShort(STATE) & CLEAN) != 0) {
            return;
        }
        var fsck = OciConfig.find("e2fsck")
                .orElseThrow(() -> new SandboxException(
                        new Failure.ProviderFailed("repair a disk", "e2fsck is not installed; install e2fsprogs")));
        // Status 1: errors were found and corrected.
        HostTool.run("repair a disk", List.of(fsck.toString(), "-f", "-y", path.toString()), 0, 1);
    }

    private ByteBuffer superblock() throws IOException {
        var superblock = ByteBuffer.allocate(READ).order(ByteOrder.LITTLE_ENDIAN);
        try (var channel = FileChannel.open(path)) {
            channel.read(superblock, SUPERBLOCK);
        }
        return superblock;
    }

    private static long number(ByteBuffer superblock, int at) {
        return Integer.toUnsignedLong(superblock.getInt(at));
    }
}
