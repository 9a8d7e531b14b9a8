package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Revoked and replaced tokens. Thread-safe.
///
/// An entry lives as long as its token could. The entries are in memory too, so that a check takes no query. A `jti`
/// applies to its own sandbox only.
final class Revocations {
    private static final int MAX_PER_SANDBOX = 10_000;

    private final Db db;
    private final InstantSource clock;
    private final Map<SandboxId, Map<String, Entry>> bySandbox = new ConcurrentHashMap<>();

    /// Reason why a token ends early.
    private enum Kind implements TextEnum {
        /// A client revoked the token. Tokens narrowed from it end too.
        REVOKED,
        /// Another token replaced this one. Tokens narrowed from it stay valid.
        RETIRED
    }

    /// `successor` is not stored: a restart closes all connections anyway.
    private record Entry(Kind kind, Instant effective, Instant expires, Optional<Grant> successor) {
        Entry(Kind kind, Instant effective, Instant expires) {
            this(kind, effective, expires, Optional.empty());
        }
    }

    private record Row(SandboxId sandbox, String jti, Entry entry) {}

    Revocations(Db db, InstantSource clock) {
        this.db = db;
        this.clock = clock;
        var rows = db.read(sql -> sql.list(
                "select sandbox_id, jti, kind, effective_at, expires_at from revocations",
                row -> new Row(
                        new SandboxId(row.getString(1)),
                        row.getString(2),
                        new Entry(
                                TextEnum.of(Kind.class, row.getString(3)),
                                Instant.ofEpochMilli(row.getLong(4)),
                                Instant.ofEpochMilli(row.getLong(5))))));
        rows.forEach(row -> of(row.sandbox()).put(row.jti(), row.entry()));
    }

    boolean isDead(Grant grant, Instant now) {
        var entries = bySandbox.get(grant.sandbox());
        if (entries == null) {
            return false;
        }
        Entry own = entries.get(grant.jti());
        return own != null && !own.effective().isAfter(now)
                || grant.ancestors().stream().anyMatch(jti -> isRevoked(entries.get(jti)));
    }

    /// Returns the time at which a replaced token ends. Empty if the token was not replaced.
    Optional<Instant> replacedAt(Grant grant) {
        return retired(grant).map(Entry::effective);
    }

    /// Returns the last token in the chain of replacements.
    Optional<Grant> successor(Grant grant) {
        Optional<Grant> next = retired(grant).flatMap(Entry::successor);
        for (var after = next; after.isPresent(); after = retired(after.get()).flatMap(Entry::successor)) {
            next = after;
        }
        return next;
    }

    private Optional<Entry> retired(Grant grant) {
        return Optional.ofNullable(
                        bySandbox.getOrDefault(grant.sandbox(), Map.of()).get(grant.jti()))
                .filter(entry -> entry.kind() == Kind.RETIRED);
    }

    private static boolean isRevoked(@Nullable Entry entry) {
        return entry != null && entry.kind() == Kind.REVOKED;
    }

    void revoke(SandboxId sandbox, String jti) {
        Instant now = clock.instant();
        var entry = new Entry(Kind.REVOKED, now, now.plus(TokenRequest.MAX_TTL));
        var entries = of(sandbox);
        if (entries.size() >= MAX_PER_SANDBOX) {
            throw new SandboxException(new AccessFailure.TooManyRevocations());
        }
        write(
                sandbox,
                jti,
                entry,
                "do update set kind = excluded.kind, effective_at = excluded.effective_at,"
                        + " expires_at = excluded.expires_at");
        entries.put(jti, entry);
    }

    /// Ends a replaced token after `overlap`. A second replacement does not change the time.
    void retire(Grant grant, Grant successor, Duration overlap) {
        Instant now = clock.instant();
        var entry = new Entry(Kind.RETIRED, now.plus(overlap), grant.expires().plus(overlap), Optional.of(successor));
        write(grant.sandbox(), grant.jti(), entry, "do nothing");
        of(grant.sandbox()).putIfAbsent(grant.jti(), entry);
    }

    /// Deletes the entries of a sandbox that ended or has a new key.
    void forget(SandboxId sandbox) {
        if (bySandbox.remove(sandbox) != null) {
            db.write(sql -> sql.update("delete from revocations where sandbox_id = ?", sandbox.value()));
        }
    }

    /// Deletes the entries of expired tokens.
    void prune() {
        Instant now = clock.instant();
        boolean found = false;
        for (var entries : bySandbox.values()) {
            found |= entries.values().removeIf(entry -> entry.expires().isBefore(now));
        }
        if (found) {
            db.write(sql -> sql.update("delete from revocations where expires_at < ?", now.toEpochMilli()));
        }
    }

    private void write(SandboxId sandbox, String jti, Entry entry, String onConflict) {
        db.write(sql -> sql.update(
                "insert into revocations (sandbox_id, jti, kind, effective_at, expires_at) values (?, ?, ?, ?, ?)"
                        + " on conflict (sandbox_id, jti) " + onConflict,
                sandbox.value(),
                jti,
                entry.kind().text(),
                entry.effective().toEpochMilli(),
                entry.expires().toEpochMilli()));
    }

    private Map<String, Entry> of(SandboxId sandbox) {
        return bySandbox.computeIfAbsent(sandbox, _ -> new ConcurrentHashMap<>());
    }
}
