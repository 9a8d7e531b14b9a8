package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.files.FileChange;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.files.WriteLock;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileHistory.Step;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileIndexTest {
    @TempDir
    private Path directory;

    @Test
    void tooLongPathOfAnOlderServerIsDeletedWithoutAnEvent() {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var real = RealGuest.start()) {
            var history = new FileHistory(db);
            var stored = new Version(
                    "x".repeat(1100), FileEntry.Type.FILE, 1, Instant.EPOCH, Optional.empty(), Optional.empty(), 0);
            history.write(sandbox, List.of(new Step(Optional.empty(), Optional.of(stored), 1)));
            var fileIndex = new FileIndex(sandbox, log, history, System::nanoTime);
            fileIndex.load();

            fileIndex.survey(new Workspace(real.guest(), new WriteLock()));

            assertThat(history.current(sandbox)).isEmpty();
            assertThat(log.read(sandbox, Query.after(0, 10))).isEmpty();
        }
    }

    /// The watch reports the creation and the deletion in one interval, after a survey published the creation.
    @Test
    void deletionOfASurveyedFileIsReported() throws IOException {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var real = RealGuest.start()) {
            Path file = Files.createFile(real.workspace().resolve("found"));
            var workspace = new Workspace(real.guest(), new WriteLock());
            var fileIndex = new FileIndex(sandbox, log, new FileHistory(db), System::nanoTime);
            fileIndex.survey(workspace);
            Files.delete(file);
            var coalescer = new ChangeCoalescer();
            for (String name : List.of("found", "unknown")) {
                coalescer.add(new FileChange(FileChange.Kind.CREATED, false, name));
                coalescer.add(new FileChange(FileChange.Kind.DELETED, false, name));
            }

            fileIndex.publish(workspace, fileIndex.withKnown(coalescer.net(), coalescer.transientPaths()));

            assertThat(log.read(sandbox, Query.after(0, 10)))
                    .extracting(Event::type)
                    .containsExactly("file.created", "file.deleted");
        }
    }

    /// Either a survey finds the deletions, or the watch reports the creations late and then the deletion of the
    /// directory.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void deletedDirectoryReportsTheNumberOfItsFiles(boolean isFoundBySurvey) throws IOException {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var real = RealGuest.start()) {
            Files.createDirectories(real.workspace().resolve("d/e"));
            Files.createFile(real.workspace().resolve("d/e/f"));
            var workspace = new Workspace(real.guest(), new WriteLock());
            var history = new FileHistory(db);
            var fileIndex = new FileIndex(sandbox, log, history, System::nanoTime);
            fileIndex.survey(workspace);
            Files.move(real.workspace().resolve("d"), directory.resolve("elsewhere"));

            if (isFoundBySurvey) {
                fileIndex.survey(workspace);
            } else {
                var coalescer = new ChangeCoalescer();
                coalescer.add(new FileChange(FileChange.Kind.CREATED, true, "d"));
                coalescer.add(new FileChange(FileChange.Kind.CREATED, true, "d/e"));
                coalescer.add(new FileChange(FileChange.Kind.CREATED, false, "d/e/f"));
                coalescer.add(new FileChange(FileChange.Kind.DELETED, true, "d"));
                fileIndex.publish(workspace, fileIndex.withKnown(coalescer.net(), coalescer.transientPaths()));
            }

            assertThat(log.read(sandbox, Query.after(3, 10)))
                    .extracting(Event::type, Event::data)
                    .singleElement()
                    .asString()
                    .contains("file.deleted", "\"path\":\"d\"", "\"files\":2");
            assertThat(history.current(sandbox)).isEmpty();
        }
    }

    /// On a busy machine the watch reports them in more than one interval.
    @Test
    void surveyedFilesAreCountedOnce() throws IOException {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var real = RealGuest.start()) {
            var names = IntStream.range(0, 100).mapToObj(i -> "f" + i).toList();
            for (String name : names) {
                Files.createFile(real.workspace().resolve(name));
            }
            var fileIndex = new FileIndex(sandbox, log, new FileHistory(db), () -> 0);
            fileIndex.survey(new Workspace(real.guest(), new WriteLock()));

            for (List<String> interval : List.of(names.subList(0, 50), names.subList(50, 100))) {
                fileIndex.publishFolded(
                        interval.stream()
                                .map(name -> new FileChange(FileChange.Kind.CREATED, false, name))
                                .toList(),
                        false);
            }

            assertThat(log.read(sandbox, Query.after(0, 10)))
                    .extracting(Event::data)
                    .singleElement()
                    .asString()
                    .contains("\"created\":100");
        }
    }
}
