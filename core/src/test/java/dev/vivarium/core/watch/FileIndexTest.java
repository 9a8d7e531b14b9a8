package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.files.FileChange;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.files.WriteLock;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileRows.Step;
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
    void whatAnOlderServerRememberedByATooLongNameIsForgottenInSilence() {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var real = RealGuest.start()) {
            var history = new FileHistory(db);
            var remembered = new Version(
                    "x".repeat(1100), FileEntry.Type.FILE, 1, Instant.EPOCH, Optional.empty(), Optional.empty(), 0);
            history.write(sandbox, List.of(new Step(Optional.empty(), Optional.of(remembered), 1)));
            var fileIndex = new FileIndex(sandbox, log, history, System::nanoTime);
            fileIndex.recall();

            fileIndex.survey(new Workspace(real.guest(), new WriteLock()));

            assertThat(history.current(sandbox)).isEmpty();
            assertThat(log.read(sandbox, Query.after(0, 10))).isEmpty();
        }
    }

    /// The watch reports the creation and the deletion in one interval, after a survey published the creation.
    @Test
    void whatALookFoundIsSeenToGo() throws IOException {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var real = RealGuest.start()) {
            Path file = Files.createFile(real.workspace().resolve("found"));
            var workspace = new Workspace(real.guest(), new WriteLock());
            var fileIndex = new FileIndex(sandbox, log, new FileHistory(db), System::nanoTime);
            fileIndex.survey(workspace);
            Files.delete(file);
            var fold = new ChangeCoalescer();
            for (String name : List.of("found", "unknown")) {
                fold.add(new FileChange(FileChange.Kind.CREATED, false, name));
                fold.add(new FileChange(FileChange.Kind.DELETED, false, name));
            }

            fileIndex.tell(workspace, fileIndex.withKnown(fold.net(), fold.passing()));

            assertThat(log.read(sandbox, Query.after(0, 10)))
                    .extracting(Event::type)
                    .containsExactly("file.created", "file.deleted");
        }
    }

    /// Either a survey finds the deletions, or the watch reports the creations late and then the deletion of the
    /// directory.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDirectoryThatWentCountsWhatItTookAlong(boolean isFoundByALook) throws IOException {
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

            if (isFoundByALook) {
                fileIndex.survey(workspace);
            } else {
                var fold = new ChangeCoalescer();
                fold.add(new FileChange(FileChange.Kind.CREATED, true, "d"));
                fold.add(new FileChange(FileChange.Kind.CREATED, true, "d/e"));
                fold.add(new FileChange(FileChange.Kind.CREATED, false, "d/e/f"));
                fold.add(new FileChange(FileChange.Kind.DELETED, true, "d"));
                fileIndex.tell(workspace, fileIndex.withKnown(fold.net(), fold.passing()));
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
    void whatALookFoundFirstIsCountedOnceHoweverTheWatchTellsOfIt() throws IOException {
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

            for (List<String> beat : List.of(names.subList(0, 50), names.subList(50, 100))) {
                fileIndex.tellFolded(
                        beat.stream()
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
