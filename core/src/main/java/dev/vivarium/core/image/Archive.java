package dev.vivarium.core.image;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/// Tar archive, compressed or not. Immutable.
record Archive(Path file) {
    private static final int MAGIC_LENGTH = 6;

    /// Adds every entry to `tree`.
    void unpackInto(Tree tree) throws IOException {
        try (var in = open()) {
            var reader = new TarReader(in);
            for (var entry = reader.next(); entry.isPresent(); entry = reader.next()) {
                tree.add(entry.get(), reader.content());
            }
        }
    }

    private InputStream open() throws IOException {
        byte[] magic;
        try (var in = Files.newInputStream(file)) {
            magic = in.readNBytes(MAGIC_LENGTH);
        }
        if (startsWith(magic, 0x1f, 0x8b)) {
            return new BufferedInputStream(new GZIPInputStream(Files.newInputStream(file), 1 << 16), 1 << 16);
        }
        if (startsWith(magic, 0x28, 0xb5, 0x2f, 0xfd)) {
            return decompressed("zstd");
        }
        if (startsWith(magic, 0xfd, '7', 'z', 'X', 'Z')) {
            return decompressed("xz");
        }
        return new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    }

    /// The Java platform does not read these two formats; a tool of the host does.
    private InputStream decompressed(String tool) throws IOException {
        var process = new ProcessBuilder(
                        List.of(tool, "-dc", "--", file.toAbsolutePath().toString()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        process.getOutputStream().close();
        return new BufferedInputStream(process.getInputStream(), 1 << 16) {
            @Override
            public void close() throws IOException {
                super.close();
                process.destroyForcibly();
            }
        };
    }

    private static boolean startsWith(byte[] magic, int... expected) {
        if (magic.length < expected.length) {
            return false;
        }
        for (int i = 0; i < expected.length; i++) {
            if ((magic[i] & 0xff) != expected[i]) {
                return false;
            }
        }
        return true;
    }

    /// Adds a directory of the host to `tree`, under the same rules as the entries of an archive.
    static void copyInto(Tree tree, Path directory) throws IOException {
        try (var paths = Files.walk(directory)) {
            for (var path : (Iterable<Path>) paths::iterator) {
                var entry = entry(directory, path);
                try (var content = entry.type() == TarEntry.Type.FILE
                        ? Files.newInputStream(path)
                        : InputStream.nullInputStream()) {
                    tree.add(entry, content);
                }
            }
        }
    }

    private static TarEntry entry(Path directory, Path path) throws IOException {
        Map<String, Object> attributes = Files.readAttributes(path, "unix:mode,uid,gid", LinkOption.NOFOLLOW_LINKS);
        var name = directory.relativize(path).toString();
        boolean link = Files.isSymbolicLink(path);
        return new TarEntry(
                name,
                type(path),
                link ? Files.readSymbolicLink(path).toString() : "",
                (int) attributes.getOrDefault("mode", 0),
                (int) attributes.getOrDefault("uid", 0),
                (int) attributes.getOrDefault("gid", 0));
    }

    private static TarEntry.Type type(Path path) {
        if (Files.isSymbolicLink(path)) {
            return TarEntry.Type.SYMLINK;
        }
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            return TarEntry.Type.DIRECTORY;
        }
        return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) ? TarEntry.Type.FILE : TarEntry.Type.OTHER;
    }
}
