package dev.vivarium.core.access;

import dev.vivarium.core.Digests;
import dev.vivarium.core.MasterKey;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/// Browser sessions, each started with a key. Thread-safe.
///
/// A session has the rights of its key and ends with the key, or after [#LENGTH]. The store keeps only the SHA-256 of
/// the session id, which is 256 random bits.
public final class BrowserSessions {
    /// Lifetime of a session. Use does not extend it.
    public static final Duration LENGTH = Duration.ofHours(12);

    /// Maximum number of sessions of one key. One more session evicts the oldest.
    static final int MAX_PER_KEY = 100;

    private static final int CACHED = 10_000;
    private static final int ID_BYTES = 32;
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{43}");

    /// Stored in place of the hash of the admin key. The operator may have chosen the key, so its hash is not
    /// stored: a reader of the database could otherwise run a dictionary attack.
    private static final String ADMIN = "admin";

    private final Db db;
    private final Keys keys;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final SignInCodes codes;

    /// By hash. Ending a session removes its entry.
    private final Map<String, Kept> cache = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    /// A session whose proof was verified.
    private record Kept(String keyHash, Instant expires) {}

    public BrowserSessions(Db db, Keys keys, InstantSource clock) {
        this.db = db;
        this.keys = keys;
        this.clock = clock;
        this.codes = new SignInCodes(clock);
    }

    /// Publishes the users whose sessions ended before they expired.
    public RightsChanges changes() {
        return changes;
    }

    /// A new session. Only this object contains its id. Immutable.
    public record Begun(String id, Session session) {
        @Override
        public String toString() {
            return "Begun[" + session + "]";
        }
    }

    /// The principal of a session and its expiry. Immutable.
    public record Session(Principal who, Instant expires) {}

    /// Starts a session for the holder of `key`. Throws [Failure.NotAuthenticated] if the key is invalid.
    public Begun begin(String key) {
        return start(keys.require(key), Keys.hash(key));
    }

    /// Issues a code that starts one session for the holder of `key`, which must be valid.
    public SignInCodes.Code issueCode(String key) {
        keys.authenticate(key);
        return codes.issue(Keys.hash(key));
    }

    /// Issues a code that starts one session for the admin.
    public SignInCodes.Code issueAdminCode() {
        return codes.issue(keys.adminHash());
    }

    /// Starts a session with a code, which is then used up. Throws [Failure.NotAuthenticated] if the code or its
    /// key is not valid.
    public Begun beginWithCode(String code) {
        String keyHash = codes.redeem(code);
        Keys.Holder holder = keys.findByHash(keyHash)
                .orElseThrow(() -> new SandboxException(
                        new Failure.NotAuthenticated("the key of this sign-in link was revoked or has expired")));
        return start(holder, keyHash);
    }

    /// A session does not outlive its key.
    private Begun start(Keys.Holder holder, String keyHash) {
        Principal who = holder.principal();
        String id = Base64.getUrlEncoder().withoutPadding().encodeToString(MasterKey.bytes(random, ID_BYTES));
        String owner = who instanceof Principal.Admin ? ADMIN : keyHash;
        Instant now = Instant.ofEpochMilli(clock.millis());
        Instant latest = now.plus(LENGTH);
        Instant end = latest.isBefore(holder.expiresAt()) ? latest : holder.expiresAt();
        List<String> gone = db.write(sql -> {
            List<String> oldest = makeRoom(sql, owner, now);
            sql.update(
                    "insert into browser_sessions (hash, key_hash, proof, created_at, expires_at) values (?, ?, ?, ?, ?)",
                    Digests.sha256(id),
                    owner,
                    proof(id, keyHash),
                    now.toEpochMilli(),
                    end.toEpochMilli());
            return oldest;
        });
        gone.forEach(cache::remove);
        if (!gone.isEmpty()) {
            changes.publish(who.name());
        }
        return new Begun(id, new Session(who, end));
    }

    /// Deletes expired sessions, and the oldest ones of a key at its limit. Returns the hashes of the latter.
    private static List<String> makeRoom(Sql sql, String owner, Instant now) throws SQLException {
        sql.update("delete from browser_sessions where expires_at <= ?", now.toEpochMilli());
        List<String> oldest = sql.list(
                "select hash from browser_sessions where key_hash = ? order by created_at desc, hash limit ? offset ?",
                row -> row.getString(1),
                owner,
                MAX_PER_KEY,
                MAX_PER_KEY - 1);
        for (String hash : oldest) {
            sql.update("delete from browser_sessions where hash = ?", hash);
        }
        return oldest;
    }

    /// Returns the session with this id if it has not expired and its key is still valid. A malformed id costs no
    /// query.
    public Optional<Session> find(String id) {
        if (!ID.matcher(id).matches()) {
            return Optional.empty();
        }
        String hash = Digests.sha256(id);
        Kept known = cache.get(hash);
        return (known == null ? lookUp(id, hash) : Optional.of(known))
                .filter(kept -> clock.instant().isBefore(kept.expires()))
                .flatMap(kept ->
                        keys.findByHash(kept.keyHash()).map(holder -> new Session(holder.principal(), kept.expires())));
    }

    /// Ends a session immediately. An unknown or expired id is not an error.
    public void end(String id) {
        Optional<Session> ended = find(id);
        String hash = Digests.sha256(id);
        db.write(sql -> sql.update("delete from browser_sessions where hash = ?", hash));
        cache.remove(hash);
        ended.ifPresent(session -> changes.publish(session.who().name()));
    }

    private Optional<Kept> lookUp(String id, String hash) {
        Optional<Kept> found = read(id, hash);
        if (found.isPresent() && makeSpace()) {
            cache.put(hash, found.get());
            // The session may have ended between the query and the insertion into the cache.
            if (read(id, hash).isEmpty()) {
                cache.remove(hash);
            }
        }
        return found;
    }

    /// Evicts expired sessions if the cache is full. Reports whether it has room for one more.
    private boolean makeSpace() {
        if (cache.size() >= CACHED) {
            Instant now = clock.instant();
            cache.values().removeIf(kept -> !now.isBefore(kept.expires()));
        }
        return cache.size() < CACHED;
    }

    /// Returns the stored session if it was started with the current key of its owner.
    private Optional<Kept> read(String id, String hash) {
        return db.read(sql -> sql.first(
                        "select key_hash, proof, expires_at from browser_sessions where hash = ?",
                        row -> new Row(row.getString(1), row.getString(2), Instant.ofEpochMilli(row.getLong(3))),
                        hash))
                .flatMap(row -> {
                    String keyHash = row.owner().equals(ADMIN) ? keys.adminHash() : row.owner();
                    return row.proof().equals(proof(id, keyHash))
                            ? Optional.of(new Kept(keyHash, row.expires()))
                            : Optional.empty();
                });
    }

    private record Row(String owner, String proof, Instant expires) {}

    /// Binds a session to the key that started it. Verifying it needs the session id and the hash of the key;
    /// without both it reveals nothing.
    private static String proof(String id, String keyHash) {
        return Digests.sha256(id + ":" + keyHash);
    }
}
