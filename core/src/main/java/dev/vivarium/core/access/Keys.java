package dev.vivarium.core.access;

import dev.vivarium.core.Digests;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
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
    /// Prefix of a new key.
    static final String PREFIX = "viv_";

    /// Prefix of the keys of earlier versions. Clients of E2B accept no other one, so a key is valid with both.
    private static final String E2B_PREFIX = "e2b_";

    private static final Pattern USER_KEY = Pattern.compile("(?:" + PREFIX + "|" + E2B_PREFIX + ")[0-9a-f]{40}");
    private static final int CACHED = 10_000;
    private static final Holder ADMIN = new Holder(new Principal.Admin(), Instant.MAX);

    private final Db db;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final byte[] adminHash;

    /// By hash. A revocation removes its entry.
    private final Map<String, Holder> cache = new ConcurrentHashMap<>();

    /// Times of the last use by hash, until [#saveUses] writes them.
    private final Map<String, Long> uses = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    private Keys(Db db, InstantSource clock, byte[] adminHash) {
        this.db = db;
        this.clock = clock;
        this.adminHash = adminHash;
    }

    /// @param expiresAt [Instant#MAX] if the key does not expire
    record Holder(Principal principal, Instant expiresAt) {}

    /// Opens the keys. `configured` is the admin key that the operator chose. Without it, the first start writes an
    /// admin key to `home/credentials`.
    public static Keys open(Db db, Path home, Optional<String> configured, InstantSource clock) {
        String admin = configured.map(AdminKey::checked).orElseGet(() -> AdminKey.of(home, new SecureRandom()));
        return new Keys(db, clock, digest(admin));
    }

    /// Publishes the users whose keys were revoked.
    public RightsChanges changes() {
        return changes;
    }

    /// Returns the holder of `key`. Throws [Failure.NotAuthenticated] if the key is invalid or has expired.
    public Principal authenticate(String key) {
        return require(key).principal();
    }

    Holder require(String key) {
        return findHolder(key).orElseThrow(() -> notAuthenticated("the API key is not valid"));
    }

    /// Returns the holder of `key`. Empty if there is no such key. Throws [Failure.NotAuthenticated] if it has
    /// expired.
    public Optional<Principal> find(String key) {
        return findHolder(key).map(Holder::principal);
    }

    /// Returns the end of the right of `key`: [Instant#MAX] if it does not expire.
    public Instant end(String key) {
        return findHolder(key).map(Holder::expiresAt).orElse(Instant.MAX);
    }

    /// A malformed key costs no query.
    private Optional<Holder> findHolder(String key) {
        byte[] hash = digest(key);
        if (MessageDigest.isEqual(hash, adminHash)) {
            return Optional.of(ADMIN);
        }
        if (!USER_KEY.matcher(key).matches()) {
            return Optional.empty();
        }
        Optional<Holder> holder = findUser(HexFormat.of().formatHex(hash));
        holder.filter(this::isExpired).ifPresent(expired -> {
            throw notAuthenticated("the API key expired at " + expired.expiresAt() + "; ask an admin for another one");
        });
        return holder;
    }

    /// Empty if the key has expired.
    Optional<Holder> findByHash(String hash) {
        return hash.equals(adminHash()) ? Optional.of(ADMIN) : findUser(hash).filter(holder -> !isExpired(holder));
    }

    private static SandboxException notAuthenticated(String sentence) {
        return new SandboxException(new Failure.NotAuthenticated(sentence));
    }

    private boolean isExpired(Holder holder) {
        return !clock.instant().isBefore(holder.expiresAt());
    }

    String adminHash() {
        return HexFormat.of().formatHex(adminHash);
    }

    private Optional<Holder> findUser(String hash) {
        Holder known = cache.get(hash);
        Optional<Holder> found = known != null ? Optional.of(known) : lookUp(hash);
        found.filter(holder -> !isExpired(holder)).ifPresent(_ -> uses.put(hash, clock.millis()));
        return found;
    }

    /// Issues a key for `user`. Only the result contains the key.
    public IssuedKey issue(UserId user) {
        return issue(KeyRequest.of(user));
    }

    /// Issues a key. Only the result contains the key. Throws [Failure.InvalidRequest] if the label or the expiry
    /// is invalid.
    public IssuedKey issue(KeyRequest request) {
        request.check(clock.instant());
        String key = AdminKey.random(random);
        String keyId = "key_" + AdminKey.random(random).substring(4, 16);
        String hash = hash(key);
        db.write(sql -> sql.update(
                "insert into api_keys (key_id, user_id, hash, created_at, label, expires_at) values (?, ?, ?, ?, ?, ?)",
                keyId,
                request.user().value(),
                hash,
                clock.millis(),
                request.label().orElse(null),
                request.expiresAt().map(Instant::toEpochMilli).orElse(null)));
        return new IssuedKey(keyId, request.user(), key);
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

    /// Returns the keys of all users, oldest first. Expired keys stay in the list until they are revoked.
    public List<KeyInfo> list() {
        return db.read(sql -> sql.list(
                "select key_id, user_id, created_at, label, last_used_at, expires_at, hash from api_keys"
                        + " order by created_at, key_id",
                this::info));
    }

    private KeyInfo info(ResultSet row) throws SQLException {
        Optional<Instant> used = Optional.ofNullable(uses.get(row.getString(7))).map(Instant::ofEpochMilli);
        return new KeyInfo(
                row.getString(1),
                new UserId(row.getString(2)),
                Instant.ofEpochMilli(row.getLong(3)),
                Optional.ofNullable(row.getString(4)),
                used.isPresent() ? used : time(row, 5),
                time(row, 6));
    }

    /// Writes the times of the last uses. The server calls it once a minute, because a write for each request would
    /// be slow.
    public void saveUses() {
        Map<String, Long> used = Map.copyOf(uses);
        if (used.isEmpty()) {
            return;
        }
        db.write(sql -> {
            for (var use : used.entrySet()) {
                // Another server may have written a later time.
                sql.update(
                        "update api_keys set last_used_at = ? where hash = ? and coalesce(last_used_at, 0) < ?",
                        use.getValue(),
                        use.getKey(),
                        use.getValue());
            }
            return used.size();
        });
        used.forEach(uses::remove);
    }

    private static Optional<Instant> time(ResultSet row, int column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
    }

    private Optional<Holder> lookUp(String hash) {
        Optional<Holder> found = holder(hash);
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

    private Optional<Holder> holder(String hash) {
        return db.read(sql -> sql.first(
                "select user_id, expires_at from api_keys where hash = ?",
                row -> new Holder(
                        new Principal.User(new UserId(row.getString(1))),
                        time(row, 2).orElse(Instant.MAX)),
                hash));
    }

    /// Returns the hash by which the store identifies a key. It is the same for both prefixes.
    static String hash(String key) {
        return HexFormat.of().formatHex(digest(key));
    }

    private static byte[] digest(String key) {
        boolean isNew = key.startsWith(PREFIX) && USER_KEY.matcher(key).matches();
        String hashed = isNew ? E2B_PREFIX + key.substring(PREFIX.length()) : key;
        return Digests.sha256().digest(hashed.getBytes(StandardCharsets.UTF_8));
    }
}
