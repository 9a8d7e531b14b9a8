package dev.vivarium.core.watch;

import dev.vivarium.core.files.FileChange;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Coalescer of file changes within a short interval: keeps the net change of each path. Confined to one thread.
///
/// A path that was created and deleted in the interval has no net change.
final class ChangeCoalescer {
    /// Directory for the tools that run beside an agent. Its changes are not reported.
    private static final String HIDDEN = ".vivarium";

    private static final int TOP = 10;
    private static final int LONGEST_NAME = 1024;
    private static final int LONGEST_CHARACTER = 3;

    private final Map<String, Net> changes = new TreeMap<>();
    private boolean incomplete;

    /// Net change of one path: whether it existed before the first change, and whether it exists after the last.
    private record Net(boolean was, boolean is, boolean directory) {
        Optional<FileChange.Kind> kind() {
            if (was) {
                return Optional.of(is ? FileChange.Kind.MODIFIED : FileChange.Kind.DELETED);
            }
            return is ? Optional.of(FileChange.Kind.CREATED) : Optional.empty();
        }
    }

    /// Number of changes of each kind, and the directories with the most changes.
    record Counts(int created, int modified, int deleted, List<String> directories) {}

    void add(FileChange change) {
        String path = change.path();
        if (change.kind() == FileChange.Kind.OVERFLOW) {
            incomplete = true;
        } else if (!path.isEmpty() && isReported(path)) {
            boolean was = change.kind() != FileChange.Kind.CREATED;
            boolean is = change.kind() != FileChange.Kind.DELETED;
            changes.merge(
                    path,
                    new Net(was, is, change.directory()),
                    (old, latest) -> new Net(old.was, latest.is, latest.directory));
        }
    }

    /// Reports whether changes of a path are reported. A name that is not valid UTF-8 cannot be requested, so its
    /// changes are not reported.
    static boolean isReported(String path) {
        return !path.equals(HIDDEN) && !path.startsWith(HIDDEN + "/") && path.indexOf('\uFFFD') < 0;
    }

    /// Reports whether a path is short enough to be named. Longer paths are only counted: they exceed the limits of
    /// a database index and of opening a file.
    static boolean isNamed(String path) {
        return path.length() <= LONGEST_NAME / LONGEST_CHARACTER
                || path.getBytes(StandardCharsets.UTF_8).length <= LONGEST_NAME;
    }

    /// Returns the net changes, ordered by path.
    List<FileChange> net() {
        var net = new ArrayList<FileChange>(changes.size());
        changes.forEach((path, change) ->
                change.kind().ifPresent(kind -> net.add(new FileChange(kind, change.directory(), path))));
        return net;
    }

    /// Returns the paths that were created and deleted in the interval. The index may contain them, because a
    /// survey can be faster than the watch.
    List<FileChange> transientPaths() {
        return changes.entrySet().stream()
                .filter(entry -> entry.getValue().kind().isEmpty())
                .map(entry ->
                        new FileChange(FileChange.Kind.DELETED, entry.getValue().directory(), entry.getKey()))
                .toList();
    }

    /// Returns the number of changed paths.
    int size() {
        return changes.size();
    }

    /// Reports whether changes were lost, so that a survey is needed.
    boolean isIncomplete() {
        return incomplete;
    }

    static Counts count(List<FileChange> net) {
        var kinds = new HashMap<FileChange.Kind, Integer>();
        var directories = new HashMap<String, Integer>();
        for (FileChange change : net) {
            kinds.merge(change.kind(), 1, Integer::sum);
            directories.merge(top(change), 1, Integer::sum);
        }
        List<String> largest = directories.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(TOP)
                .map(Map.Entry::getKey)
                .toList();
        return new Counts(
                kinds.getOrDefault(FileChange.Kind.CREATED, 0),
                kinds.getOrDefault(FileChange.Kind.MODIFIED, 0),
                kinds.getOrDefault(FileChange.Kind.DELETED, 0),
                largest);
    }

    /// Returns the top-level directory of the change, or `.` for the workspace itself.
    private static String top(FileChange change) {
        int slash = change.path().indexOf('/');
        if (slash > 0) {
            return change.path().substring(0, slash);
        }
        return change.directory() ? change.path() : ".";
    }
}
