package dev.vivarium.core.access;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxId;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Signing keys of the sandboxes' tokens. Held in memory, so that verifying a token takes no query. Thread-safe.
///
/// The first token creates the key of a sandbox, and a rotation replaces it. After the end of the sandbox, the key is
/// valid no more. It is kept for an hour, so that the holder of a token learns why the sandbox ended.
final class SigningKeys {
    private static final Logger LOG = LoggerFactory.getLogger(SigningKeys.class);
    private static final int BYTES = 32;
    private static final Duration ENDED_KEPT = Duration.ofHours(1);

    private final Db db;
    private final MasterKey master;
    private final SecureRandom random;
    private final InstantSource clock;
    private final Map<SandboxId, SigningKey> keys = new ConcurrentHashMap<>();
    private final Map<SandboxId, SigningKey> ended = new ConcurrentHashMap<>();

    /// A key and its number within the sandbox.
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record SigningKey(int epoch, byte[] bytes) {
        @Override
        public String toString() {
            return "SigningKey[" + epoch + ", ***]";
        }
    }

    private record Row(SandboxId sandbox, int epoch, String sealed) {}

    SigningKeys(Db db, MasterKey master, SecureRandom random, InstantSource clock) {
        this.db = db;
        this.master = master;
        this.random = random;
        this.clock = clock;
        var _ = prune();
        load();
        // Sandboxes may have ended while no server ran.
        endedWithKey().forEach(this::retire);
    }

    Optional<SigningKey> find(SandboxId sandbox) {
        return Optional.ofNullable(keys.get(sandbox));
    }

    /// Returns the key of the sandbox. Creates a missing key.
    SigningKey obtain(SandboxId sandbox) {
        SigningKey known = keys.get(sandbox);
        if (known != null) {
            return known;
        }
        var fresh = new SigningKey(1, MasterKey.bytes(random, BYTES));
        // If two callers create a key at once, the first row wins and both use it.
        db.write(sql -> sql.update(
                "insert into signing_keys (sandbox_id, epoch, sealed, created_at) values (?, ?, ?, ?)"
                        + " on conflict do nothing",
                sandbox.value(),
                fresh.epoch(),
                seal(sandbox, fresh),
                clock.millis()));
        rows("select sandbox_id, epoch, sealed from signing_keys where sandbox_id = ?", sandbox.value())
                .forEach(this::remember);
        return find(sandbox).orElseThrow(() -> new IllegalStateException("the key of " + sandbox + " cannot be read"));
    }

    /// Replaces the key, which invalidates all earlier tokens. Reports whether there was a key.
    boolean rotate(SandboxId sandbox) {
        SigningKey old = keys.get(sandbox);
        if (old == null) {
            return false;
        }
        var fresh = new SigningKey(old.epoch() + 1, MasterKey.bytes(random, BYTES));
        boolean rotated = db.write(sql -> sql.update(
                        "update signing_keys set epoch = ?, sealed = ?, created_at = ? where sandbox_id = ? and epoch = ?",
                        fresh.epoch(),
                        seal(sandbox, fresh),
                        clock.millis(),
                        sandbox.value(),
                        old.epoch())
                == 1);
        if (rotated) {
            keys.replace(sandbox, fresh);
        }
        return true;
    }

    /// Returns the last key of a sandbox that ended within the last hour.
    Optional<SigningKey> findEnded(SandboxId sandbox) {
        return Optional.ofNullable(ended.get(sandbox));
    }

    /// Invalidates the key of a sandbox that has ended.
    void retire(SandboxId sandbox) {
        SigningKey last = keys.remove(sandbox);
        if (last != null) {
            ended.put(sandbox, last);
        }
    }

    /// Returns ended sandboxes with a valid key. A key remains if it was created while the sandbox ended.
    List<SandboxId> endedWithKey() {
        if (keys.isEmpty()) {
            return List.of();
        }
        var all = db.read(sql -> sql.list(
                "select sandbox_id from signing_keys where sandbox_id not in"
                        + " (select id from sandboxes where ended_at is null)",
                row -> new SandboxId(row.getString(1))));
        return all.stream().filter(keys::containsKey).toList();
    }

    /// Deletes the keys of sandboxes that ended more than an hour ago. Returns those that this server knew.
    List<SandboxId> prune() {
        db.write(sql -> sql.update(
                "delete from signing_keys where sandbox_id not in"
                        + " (select id from sandboxes where ended_at is null or ended_at > ?)",
                clock.instant().minus(ENDED_KEPT).toEpochMilli()));
        if (ended.isEmpty()) {
            return List.of();
        }
        var kept = Set.copyOf(db.read(sql -> sql.list("select sandbox_id from signing_keys", row -> row.getString(1))));
        var gone = ended.keySet().stream()
                .filter(sandbox -> !kept.contains(sandbox.value()))
                .toList();
        gone.forEach(ended::remove);
        return gone;
    }

    private void load() {
        rows("select sandbox_id, epoch, sealed from signing_keys").forEach(this::remember);
    }

    private List<Row> rows(String query, Object... arguments) {
        return db.read(sql -> sql.list(
                query, row -> new Row(new SandboxId(row.getString(1)), row.getInt(2), row.getString(3)), arguments));
    }

    /// If the key was encrypted with another master key, deletes it. The sandbox then gets a new key.
    private void remember(Row row) {
        try {
            byte[] bytes = master.open(row.sealed(), purpose(row.sandbox(), row.epoch()));
            keys.merge(row.sandbox(), new SigningKey(row.epoch(), bytes), (a, b) -> a.epoch() >= b.epoch() ? a : b);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            LOG.warn("the key of {} does not open with home/master.key; its tokens end", row.sandbox());
            db.write(sql -> sql.update(
                    "delete from signing_keys where sandbox_id = ?",
                    row.sandbox().value()));
        }
    }

    private String seal(SandboxId sandbox, SigningKey key) {
        return master.seal(key.bytes(), purpose(sandbox, key.epoch()));
    }

    private static String purpose(SandboxId sandbox, int epoch) {
        return "signing-key " + sandbox + " " + epoch;
    }
}
