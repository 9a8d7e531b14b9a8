package dev.vivarium.core.watch;

import dev.vivarium.core.Digests;
import dev.vivarium.core.files.FileChange;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.NewEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/// Factory of file events. Stateless.
final class FileEvents {
    private static final int LONGEST_DIFF = 24 * 1024;
    private static final int ID_DIGITS = 32;

    private FileEvents() {}

    /// Returns the event of one change. Its id is derived from the change, so that publishing it again after a
    /// crash has no effect.
    ///
    /// @param below number of paths that were deleted with a directory
    /// @param since newest recorded event before the change; it distinguishes repeated changes of a path
    static NewEvent of(FileChange change, Optional<Version> before, Optional<Version> after, int below, long since) {
        var body = new FileEvent.Changed(
                FileEvent.Kind.valueOf(change.kind().name()),
                change.path(),
                after.or(() -> before).map(FileEvents::metadata),
                below,
                diff(change.path(), before, after));
        String id = id(body.type(), change.path(), after, since);
        return new NewEvent(Optional.of(id), body, NewEvent.OURS);
    }

    /// Returns the event, without its diff if it would be too long for the log.
    static NewEvent fitting(NewEvent event, EventCodec codec) {
        boolean fits = codec.encode(event.body()).getBytes(StandardCharsets.UTF_8).length <= NewEvent.LONGEST_DATA;
        return fits || !(event.body() instanceof FileEvent.Changed changed)
                ? event
                : new NewEvent(event.id(), changed.withDiff(FileEvent.Diff.OMITTED), event.source());
    }

    private static FileEvent.Metadata metadata(Version version) {
        return new FileEvent.Metadata(version.type(), version.size(), version.sha256());
    }

    /// Returns the difference if the old and the new text are known, or if the file is new.
    private static FileEvent.Diff diff(String path, Optional<Version> before, Optional<Version> after) {
        Optional<String> old = before.flatMap(Version::content);
        Optional<String> now = after.flatMap(Version::content);
        if (now.isEmpty() || before.isPresent() && old.isEmpty()) {
            return FileEvent.Diff.NONE;
        }
        String diff = TextDiff.of(path, old, now);
        boolean isLong = diff.length() > LONGEST_DIFF;
        String shown = isLong ? diff.substring(0, diff.lastIndexOf('\n', LONGEST_DIFF) + 1) : diff;
        return new FileEvent.Diff(Optional.of(shown), isLong, false);
    }

    private static String id(String type, String path, Optional<Version> after, long since) {
        String words = String.join(
                "\0",
                type,
                path,
                Long.toString(since),
                after.map(now -> now.type() + " " + now.size() + " " + now.modified() + " "
                                + now.sha256().orElse(""))
                        .orElse(""));
        return "file-" + Digests.sha256(words).substring(0, ID_DIGITS);
    }

    /// Returns one event for many changes.
    static NewEvent folded(List<FileChange> net, boolean incomplete) {
        ChangeCoalescer.Counts counts = ChangeCoalescer.count(net);
        var body = new FileEvent.Folded(
                counts.created(), counts.modified(), counts.deleted(), counts.directories(), incomplete);
        return NewEvent.of(body, NewEvent.OURS);
    }

    /// Reports whether a file is worth reading after a burst: source files qualify, files that tools download do
    /// not.
    static boolean isWorthReading(Version version) {
        return version.type() == FileEntry.Type.FILE
                && version.size() <= FileInspector.SMALL
                && version.sha256().isEmpty()
                && List.of(version.path().split("/")).stream()
                        .noneMatch(name -> name.startsWith(".") || name.equals("node_modules"));
    }
}
