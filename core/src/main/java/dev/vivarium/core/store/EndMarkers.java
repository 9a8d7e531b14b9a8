package dev.vivarium.core.store;

import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Directory of sandbox ends that the store could not accept yet. Thread-safe.
///
/// The next server applies them before it searches for sandboxes. Each marker is an empty file whose name encodes the
/// end. A new directory entry needs no free block, so that a marker can be written on a full file system. The name
/// contains the first [#DETAIL_BYTES] bytes of the detail.
public final class EndMarkers {
    private static final Logger LOG = LoggerFactory.getLogger(EndMarkers.class);
    private static final int DETAIL_BYTES = 120;
    private static final String SEPARATOR = ",";
    private static final int FIELDS = 5;

    private final Path directory;

    /// Creates the directory if it is missing. It does so early, because a directory needs a free block.
    public EndMarkers(Path directory) {
        this.directory = directory;
        try {
            create();
        } catch (IOException e) {
            LOG.warn("The directory {} was not created: {}", directory, e.toString());
        }
    }

    private void create() throws IOException {
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    /// An end that the store does not contain.
    public record Marker(SandboxId id, Phase phase, End end) {
        private String fileName() {
            byte[] detail = end.detail().getBytes(StandardCharsets.UTF_8);
            byte[] kept = Arrays.copyOf(detail, Math.min(detail.length, DETAIL_BYTES));
            return String.join(
                    SEPARATOR,
                    id.value(),
                    phase.name(),
                    end.cause().name(),
                    Long.toString(end.at().toEpochMilli()),
                    Base64.getUrlEncoder().withoutPadding().encodeToString(kept));
        }

        private static Optional<Marker> parse(String fileName) {
            String[] fields = fileName.split(SEPARATOR, -1);
            if (fields.length != FIELDS || !SandboxId.isWellFormed(fields[0])) {
                return Optional.empty();
            }
            try {
                String detail = new String(Base64.getUrlDecoder().decode(fields[4]), StandardCharsets.UTF_8);
                var end =
                        new End(End.Cause.valueOf(fields[2]), detail, Instant.ofEpochMilli(Long.parseLong(fields[3])));
                return Optional.of(new Marker(new SandboxId(fields[0]), Phase.valueOf(fields[1]), end));
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            }
        }
    }

    /// Writes a marker and flushes the directory. Reports whether the marker is durable.
    public boolean put(Marker marker) {
        try {
            create();
            Files.createFile(directory.resolve(marker.fileName()));
            flush();
            return true;
        } catch (FileAlreadyExistsException e) {
            return true;
        } catch (IOException e) {
            LOG.warn("The marker of the end of {} was not written: {}", marker.id(), e.toString());
            return false;
        }
    }

    private void flush() throws IOException {
        try (var channel = FileChannel.open(directory)) {
            channel.force(true);
        }
    }

    /// Returns all markers. Ignores files with other names.
    public List<Marker> list() {
        var markers = new ArrayList<Marker>();
        try (var entries = Files.newDirectoryStream(directory)) {
            entries.forEach(
                    entry -> Marker.parse(entry.getFileName().toString()).ifPresent(markers::add));
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException("reading the end markers in " + directory, e);
        }
        return markers;
    }

    /// Removes a marker whose end the store contains. Idempotent.
    public void remove(Marker marker) {
        try {
            Files.deleteIfExists(directory.resolve(marker.fileName()));
        } catch (IOException e) {
            LOG.warn("The marker of the end of {} was not removed: {}", marker.id(), e.toString());
        }
    }
}
