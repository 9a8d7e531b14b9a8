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

/// Changes of a short while, folded: of several to one path only what they come to is left, and of something that came
/// and went nothing is. Confined to one worker.
final class ChangeCoalescer {
    /// What people keep for the tools that run beside an agent; nobody wants to watch it.
    private static final String HIDDEN = ".vivarium";

    private static final int TOP = 10;
    private static final int LONGEST_NAME = 1024;
    private static final int LONGEST_CHARACTER = 3;

    private final Map<String, Net> changes = new TreeMap<>();
    private boolean incomplete;

    /// What became of one path: whether it was there before the first change, and whether it is after the last.
    private record Net(boolean was, boolean is, boolean directory) {
        Optional<FileChange.Kind> kind() {
            if (was) {
                return Optional.of(is ? FileChange.Kind.MODIFIED : FileChange.Kind.DELETED);
            }
            return is ? Optional.of(FileChange.Kind.CREATED) : Optional.empty();
        }
    }

    /// How many of each kind there were, and in which directories most of them.
    record Counts(int created, int modified, int deleted, List<String> directories) {}

    void add(FileChange change) {
        String path = change.path();
        if (change.kind() == FileChange.Kind.OVERFLOW) {
            incomplete = true;
        } else if (!path.isEmpty() && isTold(path)) {
            boolean was = change.kind() != FileChange.Kind.CREATED;
            boolean is = change.kind() != FileChange.Kind.DELETED;
            changes.merge(
                    path,
                    new Net(was, is, change.directory()),
                    (old, latest) -> new Net(old.was, latest.is, latest.directory));
        }
    }

    /// What cannot be named, because it is no UTF-8, cannot be asked for either.
    static boolean isTold(String path) {
        return !path.equals(HIDDEN) && !path.startsWith(HIDDEN + "/") && path.indexOf('\uFFFD') < 0;
    }

    /// What has a longer name is counted and not named: an index of a store takes no more, and neither does anybody
    /// who opens a file.
    static boolean isNamed(String path) {
        return path.length() <= LONGEST_NAME / LONGEST_CHARACTER
                || path.getBytes(StandardCharsets.UTF_8).length <= LONGEST_NAME;
    }

    /// What the changes come to, by path.
    List<FileChange> net() {
        var net = new ArrayList<FileChange>(changes.size());
        changes.forEach((path, change) ->
                change.kind().ifPresent(kind -> net.add(new FileChange(kind, change.directory(), path))));
        return net;
    }

    /// What came and went meanwhile. It may have been known all the same: a survey can be quicker than the watch.
    List<FileChange> passing() {
        return changes.entrySet().stream()
                .filter(entry -> entry.getValue().kind().isEmpty())
                .map(entry ->
                        new FileChange(FileChange.Kind.DELETED, entry.getValue().directory(), entry.getKey()))
                .toList();
    }

    /// How many paths were touched.
    int size() {
        return changes.size();
    }

    /// Reports whether changes were lost, so that one has to look again.
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
        List<String> most = directories.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(TOP)
                .map(Map.Entry::getKey)
                .toList();
        return new Counts(
                kinds.getOrDefault(FileChange.Kind.CREATED, 0),
                kinds.getOrDefault(FileChange.Kind.MODIFIED, 0),
                kinds.getOrDefault(FileChange.Kind.DELETED, 0),
                most);
    }

    /// The directory of the workspace in which it happened; `.` for the workspace itself.
    private static String top(FileChange change) {
        int slash = change.path().indexOf('/');
        if (slash > 0) {
            return change.path().substring(0, slash);
        }
        return change.directory() ? change.path() : ".";
    }
}
