package dev.vivarium.server.http;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.BrowserSessions;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.RightsChanges.Change;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.settings.Config;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Stored credentials and rights of all callers. Revokes the tokens of a sandbox when the sandbox ends. Thread-safe.
public record CredentialStore(
        Keys keys, BrowserSessions sessions, Tokens tokens, WorkerTokens workers, Members members, Rights rights)
        implements SandboxListener, AutoCloseable {
    public static CredentialStore open(Db db, Config config, Scheduler scheduler) {
        var clock = scheduler.clock();
        var keys = Keys.open(db, config.home(), config.apiKey(), clock);
        var members = new Members(db, clock);
        return new CredentialStore(
                keys,
                new BrowserSessions(db, keys, clock),
                Tokens.open(db, config.home(), config.access().tokenMode(), scheduler),
                WorkerTokens.open(db, config.home(), clock),
                members,
                new Rights(members, config.access().scopes()));
    }

    /// Calls `listener` after each loss of a right.
    void listen(Consumer<Change> listener) {
        Stream.of(keys.changes(), sessions.changes(), tokens.changes(), workers.changes(), members.changes())
                .forEach(changes -> changes.listen(listener));
    }

    /// Revokes the tokens of the sandbox. If one kind cannot be revoked, the other one still is.
    @Override
    public void ended(SandboxInfo sandbox) {
        try {
            tokens.forget(sandbox.id());
        } finally {
            workers.forget(sandbox.id());
        }
    }

    /// Idempotent.
    @Override
    public void close() {
        tokens.close();
        keys.saveUses();
    }
}
