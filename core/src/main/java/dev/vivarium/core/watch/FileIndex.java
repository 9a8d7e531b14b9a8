package dev.vivarium.core.watch;

import dev.vivarium.core.files.FileChange;
import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.watch.FileHistory.Step;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Index of the files of one sandbox, and publisher of their events. Confined to one thread.
///
/// It publishes before it records. After a crash in between, the next server publishes the event again with the same
/// id.
final class FileIndex {
    private static final int LISTED = 2 * FileHistory.MAX_FILES;
    private static final int MAX_UNREAD = 1000;
    private static final int UNREAD_AT_ONCE = 50;
    private static final int MAX_FOLDED = 20_000;

    private final SandboxId sandbox;
    private final EventLog log;
    private final FileHistory history;
    private final FileInspector reader;
    private final RateBucket events;

    /// Paths that changed in a burst and whose content is unknown. [#settle] reads them when the watch is quiet.
    private final Set<String> unread = new LinkedHashSet<>();

    /// Paths published in a folded event and not recorded yet.
    private final Set<String> folded = new HashSet<>();

    /// Whether the store has no versions of this sandbox, so that no query is needed.
    private boolean isBlank = true;

    /// Paths that the last survey found first. The watch reports them too, in any later interval; those reports are
    /// duplicates.
    private final Set<String> discovered = new HashSet<>();

    /// Newest recorded event.
    private long lastSeq;

    private long lastFold;
    private int files;
    private long characters;

    FileIndex(SandboxId sandbox, EventLog log, FileHistory history, LongSupplier nanos) {
        this.sandbox = sandbox;
        this.log = log;
        this.history = history;
        this.reader = new FileInspector(nanos);
        this.events = new RateBucket(40, 10, nanos);
    }

    /// Loads the state that an earlier server stored.
    void load() {
        characters = history.characters(sandbox);
        lastSeq = history.lastSeq(sandbox);
        isBlank = false;
    }

    /// Publishes one event for each change, and one folded event for all paths that are too long to be named.
    /// Returns false if the rate limit is exceeded; in that case nothing was published.
    boolean publish(Workspace workspace, List<FileChange> all) {
        if (all.isEmpty()) {
            return true;
        }
        List<FileChange> net = all.stream()
                .filter(change -> ChangeCoalescer.isNamed(change.path()))
                .toList();
        boolean areNamed = net.size() == all.size();
        if (!events.tryTake(net.size() + (areNamed ? 0 : 1))) {
            return false;
        }
        net.forEach(change -> discovered.remove(change.path()));
        if (!areNamed) {
            List<FileChange> others = all.stream()
                    .filter(change -> !ChangeCoalescer.isNamed(change.path()))
                    .toList();
            log.append(sandbox, FileEvents.folded(others, false));
        }
        publishNamed(workspace, net);
        return true;
    }

    /// Adds those short-lived paths that were published as created: a client that received the creation must
    /// receive the deletion.
    List<FileChange> withKnown(List<FileChange> net, List<FileChange> passing) {
        List<String> named = passing.stream()
                .map(FileChange::path)
                .filter(ChangeCoalescer::isNamed)
                .toList();
        var known = byPath(history.current(sandbox, named));
        return Stream.concat(net.stream(), passing.stream().filter(change -> known.containsKey(change.path())))
                .toList();
    }

    private void publishNamed(Workspace workspace, List<FileChange> net) {
        var known = byPath(
                history.current(sandbox, net.stream().map(FileChange::path).toList()));
        var there = new HashMap<String, Version>();
        for (FileChange change : net) {
            FileInspector.find(workspace, change.path())
                    .ifPresent(seen -> there.put(change.path(), reader.read(workspace, seen)));
        }
        var pending = new ArrayList<PendingEvent>();
        var unchanged = new ArrayList<Version>();
        for (FileChange change : withoutTaken(net, known, there)) {
            Optional<Version> before = Optional.ofNullable(known.get(change.path()));
            Optional<Version> after = Optional.ofNullable(there.get(change.path()));
            if (before.isPresent() && after.isPresent() && isSame(before.get(), after.get())) {
                after.filter(now -> !now.hasMetadataOf(before.get())).ifPresent(unchanged::add);
            } else {
                compare(change, before, after, known).ifPresent(pending::add);
            }
        }
        publish(pending, unchanged);
    }

    /// Removes paths that were deleted with their directory: the event of the directory counts them. Removes these
    /// paths from `known` too.
    private static List<FileChange> withoutTaken(
            List<FileChange> net, Map<String, Version> known, Map<String, Version> there) {
        Set<String> gone = known.values().stream()
                .filter(version -> version.isDirectory() && !there.containsKey(version.path()))
                .map(Version::path)
                .collect(Collectors.toSet());
        var rest = new ArrayList<FileChange>();
        for (FileChange change : net) {
            boolean isSeen = change.kind() == FileChange.Kind.DELETED || there.containsKey(change.path());
            if (isSeen || !isBelow(change.path(), gone)) {
                rest.add(change);
            } else {
                known.remove(change.path());
            }
        }
        return rest;
    }

    /// One change to publish, with the versions that it replaces.
    private record PendingEvent(NewEvent event, List<Pair> pairs) {}

    private record Pair(Optional<Version> before, Optional<Version> after) {}

    private static boolean isSame(Version before, Version after) {
        if (before.type() != after.type() || before.isDirectory()) {
            return before.type() == after.type();
        }
        return before.sha256().isPresent() && after.sha256().isPresent()
                ? before.sha256().equals(after.sha256())
                : before.hasMetadataOf(after);
    }

    private Optional<PendingEvent> compare(
            FileChange change, Optional<Version> before, Optional<Version> after, Map<String, Version> alsoTold) {
        boolean isUnknown = before.isEmpty() && after.isEmpty();
        if (isUnknown && change.kind() != FileChange.Kind.DELETED) {
            return Optional.empty(); // The path was created and deleted.
        }
        var pairs = new ArrayList<>(List.of(new Pair(before, after.map(this::withinLimit))));
        if (before.filter(Version::isDirectory).isPresent()) {
            for (Version below : history.below(sandbox, change.path())) {
                if (!alsoTold.containsKey(below.path())) {
                    pairs.add(new Pair(Optional.of(below), Optional.empty()));
                }
            }
        }
        var kind = after.isEmpty()
                ? FileChange.Kind.DELETED
                : before.isEmpty() ? FileChange.Kind.CREATED : FileChange.Kind.MODIFIED;
        var really = new FileChange(kind, change.directory(), change.path());
        NewEvent event = FileEvents.of(really, before, after, pairs.size() - 1, lastSeq);
        return Optional.of(new PendingEvent(FileEvents.fitting(event, log.codec()), pairs));
    }

    /// Drops the text if the limit of stored characters is reached.
    private Version withinLimit(Version version) {
        return FileHistory.hasRoom(characters) ? version : version.withoutContent();
    }

    private void publish(List<PendingEvent> pending, List<Version> unchanged) {
        updateContent(unchanged);
        if (pending.isEmpty()) {
            return;
        }
        try (var _ = history.begin(sandbox)) {
            List<AppendResult> appended = log.append(
                    sandbox, pending.stream().map(PendingEvent::event).toList());
            var steps = new ArrayList<Step>();
            for (int i = 0; i < pending.size(); i++) {
                long seq = appended.get(i).event().seq();
                pending.get(i).pairs().forEach(pair -> steps.add(new Step(pair.before(), pair.after(), seq)));
            }
            remember(steps);
        }
    }

    private void updateContent(List<Version> versions) {
        if (!versions.isEmpty()) {
            history.updateContent(sandbox, versions);
        }
    }

    private void remember(List<Step> steps) {
        isBlank = false;
        var kept = new ArrayList<Step>();
        for (Step step : steps) {
            boolean isNew = step.before().isEmpty();
            if (isNew && (step.after().isEmpty() || files >= FileHistory.MAX_FILES)) {
                continue;
            }
            files += (isNew ? 1 : 0) - (step.after().isEmpty() ? 1 : 0);
            kept.add(step);
            step.after().ifPresent(this::noteUnread);
        }
        history.write(sandbox, kept);
        for (Step step : kept) {
            lastSeq = Math.max(lastSeq, step.seq());
            characters +=
                    step.after().flatMap(Version::content).map(String::length).orElse(0);
        }
        characters = history.makeRoom(sandbox, characters);
    }

    private void noteUnread(Version version) {
        if (FileEvents.isWorthReading(version) && unread.size() < MAX_UNREAD) {
            unread.add(version.path());
        }
    }

    /// Publishes many changes in one event. [#survey] records them later.
    void publishFolded(List<FileChange> all, boolean incomplete) {
        List<FileChange> net = all.stream()
                .filter(change -> !discovered.remove(change.path()) || change.kind() == FileChange.Kind.DELETED)
                .toList();
        if (net.isEmpty() && !incomplete) {
            return;
        }
        lastFold =
                log.append(sandbox, FileEvents.folded(net, incomplete)).event().seq();
        for (FileChange change : net) {
            if (folded.size() < MAX_FOLDED && ChangeCoalescer.isNamed(change.path())) {
                folded.add(change.path());
            }
        }
    }

    void publishDegraded(Duration interval) {
        log.append(
                sandbox,
                NewEvent.of(new FileEvent.WatchDegraded(Math.toIntExact(interval.toSeconds())), NewEvent.OURS));
    }

    /// Lists the whole workspace and publishes the differences from the index, except those already published in a
    /// folded event.
    void survey(Workspace workspace) {
        Listing listing = workspace.list("", ListDepth.ALL, LISTED);
        Map<String, Version> known = byPath(isBlank ? List.of() : history.current(sandbox));
        files = known.size();
        Map<String, Version> there = new TreeMap<>();
        for (FileEntry entry : listing.entries()) {
            if (ChangeCoalescer.isReported(entry.name()) && ChangeCoalescer.isNamed(entry.name())) {
                there.put(entry.name(), Version.of(entry, entry.name()));
            }
        }
        List<FileChange> differences = differences(known, there, listing.truncated());
        List<FileChange> unpublished =
                differences.stream().filter(change -> !isSettled(change.path())).toList();
        discovered.clear();
        boolean isPublished = publish(workspace, tops(unpublished));
        if (!isPublished) {
            publishFolded(unpublished, false);
        }
        absorb(
                isPublished
                        ? differences.stream()
                                .filter(change -> isSettled(change.path()))
                                .toList()
                        : differences,
                known,
                there);
        folded.clear();
        unpublished.forEach(change -> discovered.add(change.path()));
    }

    /// Reports whether a path must not be published: it was part of a folded event, or an earlier server recorded
    /// it under a name that is too long.
    private boolean isSettled(String path) {
        return folded.contains(path) || !ChangeCoalescer.isNamed(path);
    }

    private static List<FileChange> differences(
            Map<String, Version> known, Map<String, Version> there, boolean truncated) {
        var differences = new ArrayList<FileChange>();
        there.forEach((path, now) -> {
            Version before = known.get(path);
            boolean isNew = before == null && known.size() < FileHistory.MAX_FILES;
            if (isNew || before != null && !before.hasMetadataOf(now)) {
                var kind = before == null ? FileChange.Kind.CREATED : FileChange.Kind.MODIFIED;
                differences.add(new FileChange(kind, now.isDirectory(), path));
            }
        });
        known.values().stream()
                .filter(old -> !truncated && !there.containsKey(old.path()))
                .forEach(
                        old -> differences.add(new FileChange(FileChange.Kind.DELETED, old.isDirectory(), old.path())));
        return differences;
    }

    /// Removes paths that were deleted with their directory: the event of the directory counts them.
    private static List<FileChange> tops(List<FileChange> changes) {
        Set<String> gone = new HashSet<>();
        for (FileChange change : changes) {
            if (change.directory() && change.kind() == FileChange.Kind.DELETED) {
                gone.add(change.path());
            }
        }
        return changes.stream()
                .filter(change -> change.kind() != FileChange.Kind.DELETED || !isBelow(change.path(), gone))
                .toList();
    }

    private static boolean isBelow(String path, Set<String> directories) {
        for (int slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
            if (directories.contains(path.substring(0, slash))) {
                return true;
            }
        }
        return false;
    }

    /// Records changes that are already published.
    private void absorb(List<FileChange> changes, Map<String, Version> known, Map<String, Version> there) {
        var steps = new ArrayList<Step>();
        for (FileChange change : changes) {
            steps.add(new Step(
                    Optional.ofNullable(known.get(change.path())),
                    Optional.ofNullable(there.get(change.path())),
                    lastFold));
        }
        // Paths near the top are more likely to be written by the user.
        steps.sort(Comparator.comparingInt(
                step -> step.after().map(FileIndex::depth).orElse(0)));
        remember(steps);
    }

    private static int depth(Version version) {
        return (int) version.path().chars().filter(c -> c == '/').count();
    }

    /// Reports whether [#settle] has work to do while the watch is quiet.
    boolean isUnsettled() {
        return !unread.isEmpty() || !discovered.isEmpty();
    }

    /// Reads some of the files of a burst, so that the next change can include a diff.
    void settle(Workspace workspace) {
        discovered.clear();
        List<String> some = unread.stream().limit(UNREAD_AT_ONCE).toList();
        var updated = new ArrayList<Version>();
        for (Version known : history.current(sandbox, some)) {
            if (known.sha256().isEmpty() && FileHistory.hasRoom(characters)) {
                Version now = reader.read(workspace, known);
                if (now.sha256().isPresent() && now.hasMetadataOf(known)) {
                    updated.add(now);
                    characters += now.content().map(String::length).orElse(0);
                }
            }
        }
        some.forEach(unread::remove);
        updateContent(updated);
    }

    private static Map<String, Version> byPath(List<Version> versions) {
        var byPath = new HashMap<String, Version>();
        versions.forEach(version -> byPath.put(version.path(), version));
        return byPath;
    }
}
