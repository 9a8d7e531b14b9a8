package dev.vivarium.server;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.HomeCheck;
import dev.vivarium.core.store.HomeLock;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.End;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// `viv purge`: ends all sandboxes of a home whose server does not run. Thread-safe.
///
/// It removes their processes, mounts, cgroups and disks, all snapshots, and the content of `orphans/`. Images and keys
/// stay. It also works if the store of the home is lost or belongs to another server.
final class PurgeCommand {
    private final InstantSource clock;
    private final Consumer<String> out;

    PurgeCommand(InstantSource clock, Consumer<String> out) {
        this.clock = clock;
        this.out = out;
    }

    void run(List<String> arguments, Map<String, String> environment) {
        var config = Config.of(Settings.read(arguments, environment, Path.of("")));
        if (!Files.isDirectory(config.home())) {
            return;
        }
        try (var _ = HomeLock.claim(config.home());
                var provider = Providers.open(config);
                var db = Vivarium.store(config)) {
            var rows = new SandboxRows(db);
            // Rows first: after an interrupted purge, the next server must not recover a sandbox without its files. It
            // removes the remaining data.
            var survivors = provider.survivors();
            boolean isOwnStore = new HomeCheck(provider).belongsTo(db);
            // Rows of another server's store belong to that server.
            endRows(rows, row -> isOwnStore || survivors.contains(row.id()));
            for (var id : survivors) {
                provider.remove(id, Provider.Disk.ERASE);
                out.accept(id.value());
            }
            deleteSnapshots(provider, new SnapshotRows(db));
            provider.inventory().deleteOrphans(Instant.MAX).forEach(out);
        }
    }

    private void deleteSnapshots(Provider provider, SnapshotRows rows) {
        for (var id : provider.snapshots()) {
            rows.delete(id);
            provider.deleteSnapshot(id);
            out.accept(id.value());
        }
    }

    private void endRows(SandboxRows rows, Predicate<SandboxRow> isOurs) {
        var end = new End(End.Cause.USER, "purged with its home", clock.instant());
        for (var row : rows.alive()) {
            if (isOurs.test(row)) {
                rows.forgetUnowned(row.id());
                rows.end(row.id(), SandboxRow.Phase.TERMINATED, end);
            }
        }
    }
}
