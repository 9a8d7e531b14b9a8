package dev.vivarium.core.watch;

import dev.vivarium.core.files.Digests;
import dev.vivarium.core.files.FileChange;
import dev.vivarium.model.EventData;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.NewEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Factory of file events. Stateless.
final class FileEvents {
    private static final String SOURCE = "sandbox";
    private static final int LONGEST_DIFF = 24 * 1024;
    private static final int ID_DIGITS = 32;

    private FileEvents() {}

    /// Returns the event of one change. Its id is derived from the change, so that publishing it again after a
    /// crash has no effect.
    ///
    /// @param below number of paths that were deleted with a directory
    /// @param since newest recorded event before the change; it distinguishes repeated changes of a path
    static NewEvent of(FileChange change, Optional<Version> before, Optional<Version> after, int below, long since) {
        var data = EventData.of("path", change.path());
        Version shown = after.or(() -> before).orElse(null);
        if (shown != null) {
            data = described(data, shown);
        }
        if (below > 0) {
            data = data.with("files", below);
        }
        String type = "file." + change.kind().name().toLowerCase(Locale.ROOT);
        String with = withDiff(data, change.path(), before, after).text();
        boolean fits = with.getBytes(StandardCharsets.UTF_8).length <= NewEvent.LONGEST_DATA;
        String text = fits ? with : data.with("diff_omitted", true).text();
        return new NewEvent(Optional.of(id(type, change.path(), after, since)), type, text, SOURCE);
    }

    private static EventData described(EventData data, Version version) {
        return switch (version.type()) {
            case FILE -> data.with("size", version.size()).with("sha256", version.sha256());
            case DIRECTORY -> data.with("directory", true);
            case LINK, OTHER -> data.with("type", version.type().name().toLowerCase(Locale.ROOT));
        };
    }

    /// Adds a diff if the old and the new text are known, or if the file is new.
    private static EventData withDiff(EventData data, String path, Optional<Version> before, Optional<Version> after) {
        Optional<String> old = before.flatMap(Version::content);
        Optional<String> now = after.flatMap(Version::content);
        if (now.isEmpty() || before.isPresent() && old.isEmpty()) {
            return data;
        }
        String diff = TextDiff.of(path, old, now);
        return diff.length() <= LONGEST_DIFF
                ? data.with("diff", diff)
                : data.with("diff", diff.substring(0, diff.lastIndexOf('\n', LONGEST_DIFF) + 1))
                        .with("diff_truncated", true);
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
        return "file-" + Digests.sha256(words.getBytes(StandardCharsets.UTF_8)).substring(0, ID_DIGITS);
    }

    /// Returns one event for many changes.
    static NewEvent folded(List<FileChange> net, boolean incomplete) {
        ChangeCoalescer.Counts counts = ChangeCoalescer.count(net);
        var data = EventData.of("created", counts.created())
                .with("modified", counts.modified())
                .with("deleted", counts.deleted())
                .with("directories", counts.directories());
        return NewEvent.of("file.changes_folded", (incomplete ? data.with("incomplete", true) : data).text(), SOURCE);
    }

    /// Reports whether a file is worth reading after a burst: source files qualify, files that tools download do
    /// not.
    static boolean isWorthLearning(Version version) {
        return version.type() == FileEntry.Type.FILE
                && version.size() <= FileInspector.SMALL
                && version.sha256().isEmpty()
                && List.of(version.path().split("/")).stream()
                        .noneMatch(name -> name.startsWith(".") || name.equals("node_modules"));
    }
}
