package dev.vivarium.bench;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.sandbox.SandboxesConfig;
import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;

/// Engine in this process, without a server and without a pool, on its own home. Thread-safe.
record Engine(Path home, Provider provider, Db db, Scheduler scheduler, Sandboxes sandboxes) implements AutoCloseable {
    static Engine open(Bench bench, int maxSandboxes) {
        Path home = bench.newHome();
        Provider provider = OciProvider.open(OciConfig.of(home, GuestPrograms.extractTo(home), OciRuntime.NATIVE));
        Db db = Db.sqlite(home.resolve("bench.db"));
        var scheduler = new Scheduler(InstantSource.system());
        var sandboxes = Sandboxes.open(provider, db, config(bench, maxSandboxes), List.of(), scheduler);
        return new Engine(home, provider, db, scheduler, sandboxes);
    }

    private static SandboxesConfig config(Bench bench, int maxSandboxes) {
        var standard = SandboxesConfig.standard();
        return standard.withPoolSize(0).withMaxSandboxes(maxSandboxes).with(standard.limits(), bench.image());
    }

    @Override
    public void close() {
        sandboxes.close();
        scheduler.close();
        db.close();
        provider.close();
    }
}
