package dev.vivarium.sdk.local;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.Undo;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.sandbox.HomeCheck;
import dev.vivarium.core.sandbox.HomeDisk;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.sandbox.SandboxesConfig;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.End;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.LocalConfig.OnClose;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// Composition of a local engine: home, provider, store and sandboxes, closed in reverse order. Thread-safe.
///
/// Unless the configuration keeps them, sandboxes also end when the program is terminated.
final class LocalComponents implements AutoCloseable {

    private final LocalConfig config;
    private final Home home;
    private final Provider provider;
    private final Db db;
    private final Scheduler scheduler;
    private final Sandboxes sandboxes;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Thread hook = Thread.ofPlatform().name("vivarium-local-exit").unstarted(this::shut);

    private LocalComponents(
            LocalConfig config, Home home, Provider provider, Db db, Scheduler scheduler, Sandboxes sandboxes) {
        this.config = config;
        this.home = home;
        this.provider = provider;
        this.db = db;
        this.scheduler = scheduler;
        this.sandboxes = sandboxes;
    }

    static LocalComponents start(LocalConfig config) {
        try (var undo = new Undo()) {
            Home home = undo.add(Home.of(config));
            Provider provider = undo.add(provider(config, home.directory()));
            Db db = undo.add(new HomeCheck(provider).openStore(home.directory().resolve("vivarium.db")));
            var scheduler = undo.add(new Scheduler(InstantSource.system()));
            Sandboxes sandboxes = undo.add(Sandboxes.open(provider, db, config(config, home), List.of(), scheduler));
            var machinery = new LocalComponents(config, home, provider, db, scheduler, sandboxes);
            undo.keep();
            if (config.onClose() == OnClose.END) {
                Runtime.getRuntime().addShutdownHook(machinery.hook);
            }
            return machinery;
        }
    }

    private static Provider provider(LocalConfig config, Path home) {
        var programs = GuestPrograms.extractTo(home.resolve("bin"));
        return switch (config.isolation()) {
            case OCI -> OciProvider.open(OciConfig.of(home, programs, OciRuntime.NATIVE));
            case PROCESS -> ProcessProvider.open(home, programs);
        };
    }

    private static SandboxesConfig config(LocalConfig config, Home home) {
        return SandboxesConfig.standard()
                .with(HomeDisk.standard(home.directory()))
                .withPoolSize(config.poolSize())
                .withMaxSandboxes(config.maxSandboxes())
                .withIdle(config.idleTimeout())
                .with(config.limits(), config.image());
    }

    Sandboxes sandboxes() {
        return sandboxes;
    }

    @Override
    public void close() {
        if (config.onClose() == OnClose.END) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException _) {
                // The program is being stopped, and the hook runs already.
            }
        }
        shut();
    }

    private void shut() {
        if (closed.getAndSet(true)) {
            return;
        }
        try (home;
                provider;
                db;
                scheduler) {
            if (config.onClose() == OnClose.END) {
                endAll();
                sandboxes.close();
                removeRest();
            } else {
                sandboxes.close();
            }
        }
    }

    /// Only a persistent home stores how the sandboxes ended.
    private void endAll() {
        if (config.home().isPresent()) {
            inParallel(sandboxes.list(), ended -> sandboxes.terminate(ended.id(), End.Cause.USER, "client closed"));
        }
    }

    /// Removes machines of the pool, which the sandboxes do not list, because they have no thread.
    private void removeRest() {
        inParallel(provider.survivors(), id -> provider.remove(id, Provider.Disk.ERASE));
    }

    private static <T> void inParallel(Collection<T> all, Consumer<T> action) {
        try (var workers = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("vivarium-local-end-", 0).factory())) {
            all.forEach(one -> workers.execute(() -> action.accept(one)));
        }
    }
}
