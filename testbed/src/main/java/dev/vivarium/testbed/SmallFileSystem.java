package dev.vivarium.testbed;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/// Real ext4 file system of a few hundred MB on a loop device, for tests that fill it. Confined to the worker that
/// creates it.
///
/// It needs root. Closing it removes everything.
public final class SmallFileSystem implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String BALLAST = "ballast";
    private static final int PIECE = 1 << 20;

    private final Path directory;
    private final Path root;

    private SmallFileSystem(Path directory, Path root) {
        this.directory = directory;
        this.root = root;
    }

    public static SmallFileSystem make(int megabytes) {
        try {
            Path directory = Files.createTempDirectory("viv-fs").toRealPath();
            Path image = directory.resolve("image");
            try (var sparse = new RandomAccessFile(image.toFile(), "rw")) {
                sparse.setLength((long) megabytes << 20);
            }
            run(List.of("mkfs.ext4", "-q", "-F", "-m", "0", image.toString()));
            Path root = Files.createDirectory(directory.resolve("root"));
            run(List.of("mount", "-o", "loop", image.toString(), root.toString()));
            return new SmallFileSystem(directory, root);
        } catch (IOException e) {
            throw new UncheckedIOException("making a small file system needs root and loop devices", e);
        }
    }

    /// Returns the mount point.
    public Path root() {
        return root;
    }

    public long freeBytes() {
        return root.toFile().getUsableSpace();
    }

    /// Writes a file until the file system is full.
    public void fill() {
        byte[] piece = new byte[PIECE];
        for (int size = piece.length; size >= 1; size /= 2) {
            try (OutputStream out = Files.newOutputStream(
                    root.resolve(BALLAST), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                while (true) {
                    out.write(piece, 0, size);
                }
            } catch (IOException e) {
                // No space for a piece of this size.
            }
        }
    }

    /// Removes the file that [#fill] wrote.
    public void drain() {
        try {
            Files.deleteIfExists(root.resolve(BALLAST));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void run(List<String> command) throws IOException {
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /// Waits until the kernel can unmount it.
    @Override
    public void close() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (true) {
                try {
                    run(List.of("umount", root.toString()));
                    break;
                } catch (IOException e) {
                    if (System.nanoTime() > deadline) {
                        throw e;
                    }
                    Thread.onSpinWait();
                }
            }
            run(List.of("rm", "-rf", directory.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
