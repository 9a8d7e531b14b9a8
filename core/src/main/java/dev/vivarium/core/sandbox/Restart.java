package dev.vivarium.core.sandbox;

import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.sandbox.Launch.Launched;
import java.time.Instant;
import java.util.Optional;

/// Start of a new machine on the disk of a sandbox. Thread-safe.
final class Restart {
    private final Engine engine;
    private final Launch launch;

    Restart(Engine engine, Launch launch) {
        this.engine = engine;
        this.launch = launch;
    }

    /// Removes what is left of the old machine and starts another one, whose lifetime ends at `endsAt`. Empty if
    /// there is no disk. Run it exclusively, see [Registry#exclusively].
    Optional<Launched> start(Sandbox sandbox, Instant endsAt) {
        sandbox.requireNotEnded();
        engine.provider.remove(sandbox.id(), Disk.KEEP);
        if (!engine.inventory.trace(sandbox.id()).hasDisk()) {
            return Optional.empty();
        }
        String secret = engine.timeSource.newSecret();
        engine.rows.restart(sandbox.id(), secret, endsAt);
        sandbox.secret(secret);
        return Optional.of(launch.start(sandbox.row().withSecret(secret), Disk.KEEP));
    }
}
