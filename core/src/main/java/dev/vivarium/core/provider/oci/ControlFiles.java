package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/// Reads and writes of the control files of a cgroup. Stateless.
final class ControlFiles {
    private ControlFiles() {}

    static void write(Path directory, String name, String value) {
        try {
            // Never create or truncate: a write is a request to the kernel.
            Files.writeString(directory.resolve(name), value, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("write " + name, String.valueOf(e.getMessage())), e);
        }
    }

    static void writeIfThere(Path directory, String name, String value) {
        if (Files.exists(directory.resolve(name))) {
            write(directory, name, value);
        }
    }

    /// Content of a file; empty if the group is gone.
    static String read(Path directory, String name) {
        try {
            return Files.readString(directory.resolve(name), StandardCharsets.US_ASCII)
                    .strip();
        } catch (IOException e) {
            return "";
        }
    }

    static long number(Path directory, String name) {
        var text = read(directory, name);
        return text.isEmpty() || text.equals("max") ? 0 : Long.parseLong(text);
    }

    /// Value of `key` in a file of `key value` lines, or zero.
    static long field(Path directory, String name, String key) {
        return field(read(directory, name), key);
    }

    /// Value of `key` in `key value` lines, or zero.
    static long field(String lines, String key) {
        return lines.lines()
                .filter(line -> line.startsWith(key + " "))
                .mapToLong(
                        line -> Long.parseLong(line.substring(key.length() + 1).strip()))
                .findFirst()
                .orElse(0);
    }

    static List<Long> processes(Path directory) {
        return numbers(directory, "cgroup.procs");
    }

    /// Numbers in a file with one number in each line.
    static List<Long> numbers(Path directory, String name) {
        return read(directory, name).lines().map(Long::parseLong).toList();
    }

    /// Processes in a group and in the groups below it.
    static List<Long> processesBelow(Path directory) {
        try (var groups = Files.walk(directory)) {
            return groups.filter(Files::isDirectory)
                    .flatMap(group -> processes(group).stream())
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of(); // A group was removed meanwhile.
        }
    }

    static void killAll(Path directory) {
        processes(directory).forEach(HostProcess::kill);
    }

    /// Removes a group and its children. Returns true if it is gone: the kernel refuses while a process is in it.
    static boolean remove(Path directory) {
        if (!Files.isDirectory(directory)) {
            return true;
        }
        try (var below = Files.newDirectoryStream(directory, Files::isDirectory)) {
            for (var child : below) {
                remove(child);
            }
            Files.delete(directory);
            return true;
        } catch (NoSuchFileException e) {
            return true;
        } catch (DirectoryNotEmptyException e) {
            return false;
        } catch (IOException e) {
            return !Files.isDirectory(directory);
        }
    }
}
