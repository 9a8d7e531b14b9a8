package dev.vivarium.core.run;

import dev.vivarium.core.Digests;
import dev.vivarium.model.FileEntry;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Directory of the server with copies of files of a sandbox. Confined to one writer at a time.
///
/// The names of the copies are hashes, and an index maps them to paths, so that no file name of a sandbox is a path on
/// the server.
final class FileMirror {
    private static final String INDEX = "index";

    private final Path directory;

    FileMirror(Path directory) {
        this.directory = directory;
    }

    /// A file at the time of the copy.
    record Copy(String path, long size, long modified) {
        static Copy of(FileEntry entry) {
            return new Copy(entry.name(), entry.size(), entry.modified().toEpochMilli());
        }
    }

    void make() throws IOException {
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    /// Returns the copies by path.
    Map<String, Copy> copies() throws IOException {
        var copies = new LinkedHashMap<String, Copy>();
        try {
            for (String line : Files.readAllLines(directory.resolve(INDEX))) {
                String[] parts = line.split(" ", 3);
                String path = URLDecoder.decode(parts[2], StandardCharsets.UTF_8);
                copies.put(path, new Copy(path, Long.parseLong(parts[0]), Long.parseLong(parts[1])));
            }
        } catch (NoSuchFileException e) {
            // The directory has no copy yet.
        }
        return copies;
    }

    /// Returns the path of the copy of a file.
    Path file(String path) {
        return directory.resolve(Digests.sha256(path));
    }

    /// Returns the path of an incomplete copy.
    Path unfinished(String path) {
        return directory.resolve(Digests.sha256(path) + ".new");
    }

    /// Writes the index of these copies, and deletes all other files.
    void commit(List<Copy> copies) throws IOException {
        String text = copies.stream()
                .map(copy -> copy.size() + " " + copy.modified() + " "
                        + URLEncoder.encode(copy.path(), StandardCharsets.UTF_8) + "\n")
                .collect(Collectors.joining());
        Path fresh = directory.resolve(INDEX + ".new");
        Files.writeString(fresh, text);
        Files.move(fresh, directory.resolve(INDEX), StandardCopyOption.ATOMIC_MOVE);
        Set<String> known =
                copies.stream().map(copy -> Digests.sha256(copy.path())).collect(Collectors.toSet());
        for (Path file : list()) {
            String name = file.getFileName().toString();
            if (!name.equals(INDEX) && !known.contains(name)) {
                Files.deleteIfExists(file);
            }
        }
    }

    /// Reports whether the index is not empty and every copy in it exists.
    boolean isComplete() throws IOException {
        Map<String, Copy> copies = copies();
        return !copies.isEmpty() && copies.keySet().stream().allMatch(path -> Files.isRegularFile(file(path)));
    }

    /// Returns the size of all files. Files that disappear meanwhile count as empty.
    long bytes() throws IOException {
        long bytes = 0;
        for (Path file : list()) {
            try {
                bytes += Files.size(file);
            } catch (NoSuchFileException e) {
                // The file was replaced or deleted.
            }
        }
        return bytes;
    }

    void delete() throws IOException {
        for (Path file : list()) {
            Files.deleteIfExists(file);
        }
        Files.deleteIfExists(directory);
    }

    private List<Path> list() throws IOException {
        try (var files = Files.newDirectoryStream(directory)) {
            var all = new ArrayList<Path>();
            files.forEach(all::add);
            return all;
        }
    }
}
