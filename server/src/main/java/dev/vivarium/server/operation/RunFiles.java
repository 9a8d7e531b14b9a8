package dev.vivarium.server.operation;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.Run;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Files that a run changed, from the file events of its sandbox. They include the changes of programs that the agent
/// started. Thread-safe.
public final class RunFiles {
    /// The watch reports changes a moment after they happened.
    private static final Duration DELAY = Duration.ofSeconds(1);

    private static final int MAX_PAGES = 5;
    private static final int MAX_FILES = 500;

    private final EventLog log;

    public RunFiles(EventLog log) {
        this.log = log;
    }

    /// Changes of one file. Immutable.
    private record Change(FileEvent.Kind first, FileEvent.Kind last, long added, long removed) {
        boolean isVisible() {
            return first != FileEvent.Kind.CREATED || last != FileEvent.Kind.DELETED;
        }

        Change then(Change next) {
            return new Change(first, next.last, added + next.added, removed + next.removed);
        }

        JsonFields json(String path) {
            return Json.answer("{}")
                    .with("path", path)
                    .with("action", (last == FileEvent.Kind.DELETED ? last : first).text())
                    .with("lines_added", added)
                    .with("lines_removed", removed);
        }
    }

    /// Returns a result with `files_changed` from the file events. Files that only the worker reported stay in the
    /// list.
    public String withFiles(Run run, String result) {
        Map<String, Change> changes = changes(run);
        JsonFields fields = Json.answer(result);
        List<JsonFields> files = Stream.concat(
                        changes.entrySet().stream()
                                .filter(entry -> entry.getValue().isVisible())
                                .map(entry -> entry.getValue().json(entry.getKey())),
                        fields.findObjects("files_changed").stream()
                                .filter(file -> !changes.containsKey(
                                        file.optionalString("path").orElse(""))))
                .limit(MAX_FILES)
                .toList();
        return fields.with("files_changed", files).text();
    }

    private Map<String, Change> changes(Run run) {
        var changes = new LinkedHashMap<String, Change>();
        Instant end = run.endedAt().map(at -> at.plus(DELAY)).orElse(Instant.MAX);
        long after = 0;
        for (int page = 0; page < MAX_PAGES; page++) {
            var query = new Query(after, Optional.of(run.startedAt()), Optional.of("file."), Query.MOST);
            List<Event> events = log.read(run.sandbox(), query);
            events.stream().filter(event -> event.at().isBefore(end)).forEach(event -> add(changes, event));
            if (events.isEmpty() || events.getLast().at().isAfter(end)) {
                break;
            }
            after = events.getLast().seq();
        }
        return changes;
    }

    private void add(Map<String, Change> changes, Event event) {
        if (log.codec().decode(event) instanceof FileEvent.Changed changed && isSource(changed)) {
            long added = lines(changed, '+');
            long removed = lines(changed, '-');
            changes.merge(changed.path(), new Change(changed.kind(), changed.kind(), added, removed), Change::then);
        }
    }

    /// Reports whether the change belongs in a result: files, but not those of Git itself.
    private static boolean isSource(FileEvent.Changed changed) {
        boolean isDirectory = changed.file()
                        .filter(file -> file.type() == FileEntry.Type.DIRECTORY)
                        .isPresent()
                || changed.below() > 0;
        return !isDirectory && !changed.path().startsWith(".git/");
    }

    private static long lines(FileEvent.Changed changed, char sign) {
        return changed.diff()
                .text()
                .orElse("")
                .lines()
                .filter(line -> !line.isEmpty()
                        && line.charAt(0) == sign
                        && !line.startsWith(String.valueOf(sign).repeat(3)))
                .count();
    }
}
