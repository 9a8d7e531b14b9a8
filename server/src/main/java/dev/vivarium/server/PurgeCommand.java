package dev.vivarium.server;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.HomeCheck;
import dev.vivarium.core.store.HomeLock;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SnapshotRows;
import dev.vivarium.model.End;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// `viv purge`: ends all sandboxes of a home whose server does not run. Thread-safe.
///
/// It removes their processes, mounts, cgroups and disks, all snapshots, and the content of `orphans/`. Images and keys
/// stay. It also works if the store of the home is lost or belongs to another server, and if the directory of the home
/// is gone: processes, cgroups and run directories are named after its path.
final class PurgeCommand {
    static final String HELP = """
            usage: viv purge [--yes] [--home DIR] [--KEY VALUE] …

            Ends all sandboxes of a stopped server and deletes their disks, all snapshots, and the content of orphans/.
            Images and keys stay. The directory of the home may be gone. Prints the id of each deleted item.

              --yes
                  Do not ask for confirmation. Required without a terminal.

              --home DIR
                  The home of the server. Pass the same settings as to viv serve.
            """;

    private static final String YES = "--yes";

    private final InstantSource clock;
    private final Consumer<String> out;
    private final Optional<Predicate<String>> terminal;

    /// @param terminal asks the user a question that is answered with yes or no
    PurgeCommand(InstantSource clock, Consumer<String> out, Optional<Predicate<String>> terminal) {
        this.clock = clock;
        this.out = out;
        this.terminal = terminal;
    }

    void run(List<String> arguments, Map<String, String> environment) {
        boolean isConfirmed = arguments.contains(YES);
        var settings =
                arguments.stream().filter(argument -> !argument.equals(YES)).toList();
        var config = Config.of(Settings.read(settings, environment, Path.of("")));
        if (!isConfirmed && terminal.isEmpty()) {
            throw SandboxException.invalid(
                    "viv purge", "deletes all sandboxes and snapshots of " + config.home() + "; confirm it with --yes");
        }
        try (var lock = HomeLock.claim(config.home())) {
            try {
                purge(config, isConfirmed);
            } finally {
                Main.restore(config.home(), lock.earlierState());
            }
        }
    }

    private void purge(Config config, boolean isConfirmed) {
        try (var provider = Providers.open(config);
                var db = Vivarium.store(config)) {
            var survivors = provider.survivors();
            if (!isConfirmed && !confirm(config, provider, survivors)) {
                out.accept("nothing was deleted");
                return;
            }
            // Rows first: after an interrupted purge, the next server must not recover a sandbox without its files. It
            // removes the remaining data.
            boolean isOwnStore = new HomeCheck(provider).belongsTo(db);
            // Rows of another server's store belong to that server.
            endRows(new SandboxRows(db), row -> isOwnStore || survivors.contains(row.id()));
            for (var id : survivors) {
                provider.remove(id, Provider.Disk.ERASE);
                out.accept(id.value());
            }
            deleteSnapshots(provider, new SnapshotRows(db));
            provider.inventory().deleteOrphans(Instant.MAX).forEach(out);
        }
    }

    private boolean confirm(Config config, Provider provider, Set<SandboxId> survivors) {
        var question = "Delete the sandboxes (%d), the snapshots (%d) and the orphans of %s? [y/N] "
                .formatted(survivors.size(), provider.snapshots().size(), config.home());
        return terminal.orElseThrow().test(question);
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
