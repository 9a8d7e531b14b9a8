package dev.vivarium.cli.sync;

import dev.vivarium.cli.sync.Change.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/// Decides the operation for every path. Pure function.
///
/// | local | remote | both directions |
/// |---|---|---|
/// | changed | same | upload |
/// | same | changed | download |
/// | changed | changed to the same | record |
/// | changed | changed, differently | conflict |
/// | deleted | same | delete the remote file |
/// | same | deleted | delete the local file |
/// | deleted | changed | download |
/// | changed | deleted | upload |
/// | deleted | deleted | record |
///
/// A new file counts as changed. In one direction, changes against the direction are skipped, and deletes need an
/// option.
public record Plan(Direction direction, Deletes deletes, Prefer prefer) {
    /// Direction of changes.
    public enum Direction {
        PUSH,
        PULL,
        BOTH
    }

    /// Whether deletes are transferred.
    public enum Deletes {
        CARRIED,
        LEFT
    }

    /// Version that wins a conflict.
    public enum Prefer {
        NEITHER,
        LOCAL,
        REMOTE
    }

    public List<Change> changes(
            Map<String, Version> ancestor, Map<String, Version> local, Map<String, Version> remote) {
        var paths = new TreeSet<String>(ancestor.keySet());
        paths.addAll(local.keySet());
        paths.addAll(remote.keySet());
        var changes = new ArrayList<Change>();
        for (String path : paths) {
            var base = Optional.ofNullable(ancestor.get(path));
            var here = Optional.ofNullable(local.get(path));
            var there = Optional.ofNullable(remote.get(path));
            if (!here.equals(base) || !there.equals(base)) {
                changes.add(new Change(allowed(kind(base, here, there)), path, here, there));
            }
        }
        return changes;
    }

    private Kind kind(Optional<Version> base, Optional<Version> here, Optional<Version> there) {
        if (here.equals(there)) {
            return Kind.RECORD;
        }
        if (there.equals(base)) {
            return here.isPresent() ? Kind.UPLOAD : Kind.DELETE_REMOTE;
        }
        if (here.equals(base)) {
            return there.isPresent() ? Kind.DOWNLOAD : Kind.DELETE_LOCAL;
        }
        if (here.isEmpty()) {
            return Kind.DOWNLOAD;
        }
        if (there.isEmpty()) {
            return Kind.UPLOAD;
        }
        return switch (prefer) {
            case NEITHER -> Kind.CONFLICT;
            case LOCAL -> Kind.UPLOAD;
            case REMOTE -> Kind.DOWNLOAD;
        };
    }

    private Kind allowed(Kind kind) {
        boolean isAllowed = switch (kind) {
            case UPLOAD -> direction != Direction.PULL;
            case DOWNLOAD -> direction != Direction.PUSH;
            case DELETE_REMOTE -> direction != Direction.PULL && deletes == Deletes.CARRIED;
            case DELETE_LOCAL -> direction != Direction.PUSH && deletes == Deletes.CARRIED;
            case RECORD, CONFLICT, SKIP -> true;
        };
        return isAllowed ? kind : Kind.SKIP;
    }
}
