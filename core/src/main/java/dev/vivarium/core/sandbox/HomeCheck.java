package dev.vivarium.core.sandbox;

import dev.vivarium.core.provider.InventoryRecord;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;

/// Check that the disks, machines and snapshots of a home belong to its store. A server runs the check before any
/// change, because with another store, all of them look like leftovers. Fails with `InvalidRequest`. Thread-safe.
public final class HomeCheck {
    private static final String WAYS_OUT =
            "Nothing was changed. Put the old store back, or run `viv serve --adopt` once"
                    + " to take the disks over, or run `viv purge` to remove them.";

    private final Provider provider;

    public HomeCheck(Provider provider) {
        this.provider = provider;
    }

    /// Opens the SQLite store of the home. If the home is empty, the store can be new. A missing store is created
    /// only after the check, so that a failed check changes nothing.
    public Db openStore(Path file) {
        if (Db.isMissing(file)) {
            requireEmpty();
        }
        return checked(Db.sqlite(file));
    }

    /// Returns `db` if everything in the home belongs to it; closes it otherwise.
    public Db checked(Db db) {
        try {
            requireBelongsTo(db);
            return db;
        } catch (RuntimeException e) {
            db.close();
            throw e;
        }
    }

    /// Reports whether everything in the home belongs to the store: it carries the id of the store or has a row.
    public boolean belongsTo(Db db) {
        return foreignTo(db).isEmpty();
    }

    private void requireBelongsTo(Db db) {
        Found foreign = foreignTo(db);
        if (!foreign.isEmpty()) {
            throw refused(foreign, why(foreign, db));
        }
    }

    private void requireEmpty() {
        Found all = find((_, _) -> true, (_, _) -> true);
        if (!all.isEmpty()) {
            throw refused(all, "The store is missing or empty.");
        }
    }

    private Found foreignTo(Db db) {
        var rows = new SandboxRows(db);
        var snapshots = new SnapshotRows(db);
        var ours = Optional.of(db.id());
        return find(
                (id, trace) -> !trace.store().equals(ours) && rows.find(id).isEmpty(),
                (id, trace) -> !trace.store().equals(ours) && snapshots.find(id).isEmpty());
    }

    private record Found(List<InventoryRecord> sandboxes, List<InventoryRecord> snapshots) {
        boolean isEmpty() {
            return sandboxes.isEmpty() && snapshots.isEmpty();
        }

        boolean haveStore() {
            return sandboxes.stream().anyMatch(trace -> trace.store().isPresent())
                    || snapshots.stream().anyMatch(trace -> trace.store().isPresent());
        }
    }

    private Found find(
            BiPredicate<SandboxId, InventoryRecord> sandbox, BiPredicate<SnapshotId, InventoryRecord> snapshot) {
        var sandboxes = new ArrayList<InventoryRecord>();
        for (SandboxId id : provider.survivors()) {
            InventoryRecord trace = provider.inventory().trace(id);
            if ((trace.hasDisk() || trace.hasMachine()) && sandbox.test(id, trace)) {
                sandboxes.add(trace);
            }
        }
        var snapshots = new ArrayList<InventoryRecord>();
        for (SnapshotId id : provider.snapshots()) {
            InventoryRecord trace = provider.inventory().trace(id);
            if (trace.hasDisk() && snapshot.test(id, trace)) {
                snapshots.add(trace);
            }
        }
        return new Found(sandboxes, snapshots);
    }

    private static String why(Found foreign, Db db) {
        if (!new SandboxRows(db).hasAny()) {
            return "The store is new, or has lost its rows.";
        }
        return foreign.haveStore()
                ? "They belong to another store."
                : "They carry no store id, and the store has no rows of them.";
    }

    private static SandboxException refused(Found found, String why) {
        long disks = found.sandboxes().stream().filter(InventoryRecord::hasDisk).count();
        long machines =
                found.sandboxes().stream().filter(InventoryRecord::hasMachine).count();
        var what = "holds %s, %s and %s that are not in its store. "
                .formatted(
                        count(disks, "disk"),
                        count(machines, "machine"),
                        count(found.snapshots().size(), "snapshot"));
        return SandboxException.invalid("home", what + why + " " + WAYS_OUT);
    }

    private static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
