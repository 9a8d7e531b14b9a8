package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/// API keys of this server: one admin key, and the keys issued to users. Thread-safe.
///
/// The store keeps only the SHA-256 of a user's key. A key is 160 random bits, so a slow hash would add no protection.
public final class Keys {
    private static final Pattern USER_KEY = Pattern.compile("e2b_[0-9a-f]{40}");
    private static final int CACHED = 10_000;

    private final Db db;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final byte[] adminHash;

    /// By hash. A revocation removes its entry.
    private final Map<String, Principal> cache = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    private Keys(Db db, InstantSource clock, byte[] adminHash) {
        this.db = db;
        this.clock = clock;
        this.adminHash = adminHash;
    }

    /// Opens the keys. `configured` is the admin key that the operator chose. Without it, the first start writes an
    /// admin key to `home/credentials`.
    public static Keys open(Db db, Path home, Optional<String> configured, InstantSource clock) {
        String admin = configured.map(AdminKey::checked).orElseGet(() -> AdminKey.of(home, new SecureRandom()));
        return new Keys(db, clock, sha256(admin));
    }

    /// Publishes the users whose keys were revoked.
    public RightsChanges changes() {
        return changes;
    }

    /// Returns the holder of `key`. Throws [Failure.NotAuthenticated] if the key is invalid.
    public Principal authenticate(String key) {
        return find(key)
                .orElseThrow(() -> new SandboxException(new Failure.NotAuthenticated("the API key is not valid")));
    }

    /// Returns the holder of `key`, if it is valid. A malformed key costs no query.
    public Optional<Principal> find(String key) {
        byte[] hash = sha256(key);
        if (MessageDigest.isEqual(hash, adminHash)) {
            return Optional.of(new Principal.Admin());
        }
        if (!USER_KEY.matcher(key).matches()) {
            return Optional.empty();
        }
        return findUser(HexFormat.of().formatHex(hash));
    }

    Optional<Principal> findByHash(String hash) {
        return hash.equals(adminHash()) ? Optional.of(new Principal.Admin()) : findUser(hash);
    }

    String adminHash() {
        return HexFormat.of().formatHex(adminHash);
    }

    /// Returns the SHA-256 of a secret in hexadecimal digits.
    static String hash(String secret) {
        return HexFormat.of().formatHex(sha256(secret));
    }

    private Optional<Principal> findUser(String hash) {
        Principal known = cache.get(hash);
        return known != null ? Optional.of(known) : lookUp(hash);
    }

    /// Issues a key for `user`. Only the result contains the key.
    public IssuedKey issue(UserId user) {
        String key = AdminKey.random(random);
        String keyId = "key_" + AdminKey.random(random).substring(4, 16);
        String hash = hash(key);
        db.write(sql -> sql.update(
                "insert into api_keys (key_id, user_id, hash, created_at) values (?, ?, ?, ?)",
                keyId,
                user.value(),
                hash,
                clock.millis()));
        return new IssuedKey(keyId, user, key);
    }

    /// Revokes a key immediately. Reports whether the key existed.
    public boolean revoke(String keyId) {
        var revoked = db.write(sql -> {
            var found = sql.first(
                    "select hash, user_id from api_keys where key_id = ?",
                    row -> new Revoked(row.getString(1), new UserId(row.getString(2))),
                    keyId);
            sql.update("delete from api_keys where key_id = ?", keyId);
            return found;
        });
        revoked.ifPresent(key -> {
            cache.remove(key.hash());
            changes.publish(key.user());
        });
        return revoked.isPresent();
    }

    private record Revoked(String hash, UserId user) {}

    /// Returns the keys of all users, oldest first.
    public List<KeyInfo> list() {
        return db.read(sql -> sql.list(
                "select key_id, user_id, created_at from api_keys order by created_at, key_id",
                row -> new KeyInfo(
                        row.getString(1), new UserId(row.getString(2)), Instant.ofEpochMilli(row.getLong(3)))));
    }

    private Optional<Principal> lookUp(String hash) {
        Optional<Principal> found = holder(hash).map(Principal.User::new);
        if (found.isPresent() && cache.size() < CACHED) {
            cache.put(hash, found.get());
            forgetIfRevoked(hash);
        }
        return found;
    }

    /// A revocation may occur between the query and the insertion into the cache.
    private void forgetIfRevoked(String hash) {
        if (holder(hash).isEmpty()) {
            cache.remove(hash);
        }
    }

    private Optional<UserId> holder(String hash) {
        return db.read(sql ->
                sql.first("select user_id from api_keys where hash = ?", row -> new UserId(row.getString(1)), hash));
    }

    private static byte[] sha256(String key) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
