package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
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

/// Browsers that somebody let in by showing a key once. A session is as good as its key, for a while, and ends with it;
/// of its id, 256 random bits, only the SHA-256 is kept. Thread-safe.
public final class BrowserSessions {
    /// How long one lasts, whatever is done with it.
    public static final Duration LENGTH = Duration.ofHours(12);

    /// How many one key has; for one more the oldest goes.
    static final int MOST_PER_KEY = 100;

    private static final int CACHED = 10_000;
    private static final int ID_BYTES = 32;
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{43}");

    /// The admin's key may be one that somebody chose. Its hash is kept nowhere, so that nobody who reads the store
    /// can try words against it.
    private static final String ADMIN = "admin";

    private final Db db;
    private final Keys keys;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    /// By hash; what is signed out is removed here.
    private final Map<String, Kept> cache = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    /// What is kept of one whose proof was found to be right.
    private record Kept(String keyHash, Instant expires) {}

    public BrowserSessions(Db db, Keys keys, InstantSource clock) {
        this.db = db;
        this.keys = keys;
        this.clock = clock;
    }

    /// Publishes whose sessions ended before their time.
    public RightsChanges changes() {
        return changes;
    }

    /// A session that has just begun; its id can be read here and nowhere else. Immutable.
    public record Begun(String id, Session session) {
        @Override
        public String toString() {
            return "Begun[" + session + "]";
        }
    }

    /// Who is there, and for how long. Immutable.
    public record Session(Principal who, Instant expires) {}

    /// Begins a session for whoever holds `key`; throws [Failure.NotAuthenticated] when nobody does.
    public Begun begin(String key) {
        Principal who = keys.authenticate(key);
        byte[] bytes = new byte[ID_BYTES];
        random.nextBytes(bytes);
        String id = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        String keyHash = Keys.hash(key);
        String owner = who instanceof Principal.Admin ? ADMIN : keyHash;
        Instant now = Instant.ofEpochMilli(clock.millis());
        List<String> gone = db.write(sql -> {
            List<String> oldest = makeRoom(sql, owner, now);
            sql.update(
                    "insert into browser_sessions (hash, key_hash, proof, created_at, expires_at) values (?, ?, ?, ?, ?)",
                    Keys.hash(id),
                    owner,
                    proof(id, keyHash),
                    now.toEpochMilli(),
                    now.plus(LENGTH).toEpochMilli());
            return oldest;
        });
        gone.forEach(cache::remove);
        if (!gone.isEmpty()) {
            changes.publish(who.name());
        }
        return new Begun(id, new Session(who, now.plus(LENGTH)));
    }

    /// Removes what is over, and the oldest of a key that has too many; returns the latter.
    private static List<String> makeRoom(Sql sql, String owner, Instant now) throws SQLException {
        sql.update("delete from browser_sessions where expires_at <= ?", now.toEpochMilli());
        List<String> oldest = sql.list(
                "select hash from browser_sessions where key_hash = ? order by created_at desc, hash limit ? offset ?",
                row -> row.getString(1),
                owner,
                MOST_PER_KEY,
                MOST_PER_KEY - 1);
        for (String hash : oldest) {
            sql.update("delete from browser_sessions where hash = ?", hash);
        }
        return oldest;
    }

    /// The session of that id, if it is not over and its key still opens something. What cannot be an id costs no
    /// query.
    public Optional<Session> find(String id) {
        if (!ID.matcher(id).matches()) {
            return Optional.empty();
        }
        String hash = Keys.hash(id);
        Kept known = cache.get(hash);
        return (known == null ? lookUp(id, hash) : Optional.of(known))
                .filter(kept -> clock.instant().isBefore(kept.expires()))
                .flatMap(kept -> keys.findByHash(kept.keyHash()).map(who -> new Session(who, kept.expires())));
    }

    /// Ends a session at once. One that is over, or never was, is fine.
    public void end(String id) {
        Optional<Session> ended = find(id);
        String hash = Keys.hash(id);
        db.write(sql -> sql.update("delete from browser_sessions where hash = ?", hash));
        cache.remove(hash);
        ended.ifPresent(session -> changes.publish(session.who().name()));
    }

    private Optional<Kept> lookUp(String id, String hash) {
        Optional<Kept> found = read(id, hash);
        if (found.isPresent() && makeSpace()) {
            cache.put(hash, found.get());
            // It may have ended between the query and this.
            if (read(id, hash).isEmpty()) {
                cache.remove(hash);
            }
        }
        return found;
    }

    /// Reports whether there is room for one more, without those that are over.
    private boolean makeSpace() {
        if (cache.size() >= CACHED) {
            Instant now = clock.instant();
            cache.values().removeIf(kept -> !now.isBefore(kept.expires()));
        }
        return cache.size() < CACHED;
    }

    /// What the store has of a session, if the key that it came of is the key that its owner has now.
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

    /// Shows that a session came of a key, to whoever has the session and the hash of the key, and tells others
    /// nothing.
    private static String proof(String id, String keyHash) {
        return Keys.hash(id + ":" + keyHash);
    }
}
