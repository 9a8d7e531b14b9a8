package dev.vivarium.core.access;

import dev.vivarium.core.Digests;
import dev.vivarium.core.MasterKey;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/// First answers to requests with an idempotency key. Thread-safe.
///
/// Each principal has its own keys. The store holds keyed hashes of the key, the target and the body. The answer is
/// encrypted with the master key, because it may contain a secret.
public final class IdempotencyKeys implements AutoCloseable {
    /// Lifetime of a key.
    public static final Duration KEPT = Duration.ofHours(24);

    static final int MAX_KEYS = 10_000;
    static final long MAX_BYTES = 64L * 1024 * 1024;

    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,255}");
    private static final Duration PRUNE_EVERY = Duration.ofMinutes(10);

    private final Db db;
    private final MasterKey master;
    private final byte[] salt;
    private final InstantSource clock;
    private final Scheduler.Jobs jobs;
    private final Set<Id> running = ConcurrentHashMap.newKeySet();

    private IdempotencyKeys(Db db, MasterKey master, Scheduler scheduler) {
        this.db = db;
        this.master = master;
        this.salt = master.derive("idempotency-keys");
        this.clock = scheduler.clock();
        this.jobs = scheduler.jobs().every(PRUNE_EVERY, "deletion of old idempotency keys", this::prune);
    }

    public static IdempotencyKeys open(Db db, Path home, Scheduler scheduler) {
        return new IdempotencyKeys(db, MasterKey.of(home, new SecureRandom()), scheduler);
    }

    private record Id(String principal, String keyHash) {
        String purpose() {
            return "idempotency " + principal + " " + keyHash;
        }
    }

    /// Result of [#begin].
    public sealed interface Begun {
        /// The key is new. The caller handles the request, and calls [#finish] or [#release].
        record First(Claim claim) implements Begun {}

        /// Another request with this key is in progress.
        record InProgress() implements Begun {}

        /// The server stopped, or failed, before the first request with this key had an answer.
        record Unknown() implements Begun {}

        /// The first request with this key is complete.
        ///
        /// @param answer empty if it was not kept
        record Complete(String bodyHash, Optional<byte[]> answer) implements Begun {}
    }

    /// Right to handle the first request with a key. Immutable.
    public static final class Claim {
        private final Id id;

        private Claim(Id id) {
            this.id = id;
        }
    }

    private record Row(String target, Optional<String> bodyHash, Optional<String> sealed) {
        static Row read(ResultSet row) throws SQLException {
            return new Row(
                    row.getString("target"),
                    Optional.ofNullable(row.getString("body_hash")),
                    Optional.ofNullable(row.getString("answer")));
        }
    }

    /// Returns a digest for the body of a request. Its value is useless without the master key.
    public MessageDigest digest() {
        MessageDigest digest = Digests.sha256();
        digest.update(salt);
        return digest;
    }

    /// Claims a key for a request, durably, or finds the earlier request with this key. Throws
    /// `idempotency-key-reused` if that was another target.
    ///
    /// @param target method and path
    public Begun begin(Principal who, String key, String target) {
        Failure.InvalidRequest.require(
                KEY.matcher(key).matches(), "Idempotency-Key", "must be 1 to 255 printable characters without a space");
        var id = new Id(name(who), hash(key));
        String targetHash = hash(target);
        Optional<Row> earlier = db.write(sql -> claim(sql, id, targetHash));
        if (earlier.isEmpty()) {
            running.add(id);
            return new Begun.First(new Claim(id));
        }
        var row = earlier.get();
        if (!row.target.equals(targetHash)) {
            throw new SandboxException(RequestFailure.IdempotencyKeyReused.ofRoute());
        }
        if (row.bodyHash.isEmpty()) {
            return running.contains(id) ? new Begun.InProgress() : new Begun.Unknown();
        }
        return new Begun.Complete(row.bodyHash.get(), row.sealed.flatMap(text -> unseal(id, text)));
    }

    /// Inserts the row and returns nothing, or returns the earlier row.
    private Optional<Row> claim(Sql sql, Id id, String target) throws SQLException {
        sql.update(
                "delete from idempotency_keys where principal = ? and key_hash = ? and created_at <= ?",
                id.principal,
                id.keyHash,
                oldest());
        var earlier = sql.first(
                "select target, body_hash, answer from idempotency_keys where principal = ? and key_hash = ?",
                Row::read,
                id.principal,
                id.keyHash);
        if (earlier.isPresent()) {
            return earlier;
        }
        long keys = sql.number("select count(*) from idempotency_keys where principal = ?", id.principal);
        if (keys >= MAX_KEYS) {
            throw new SandboxException(new RequestFailure.TooManyRequests("this caller has used " + MAX_KEYS
                    + " idempotency keys in 24 hours; send the request without Idempotency-Key"));
        }
        sql.update(
                "insert into idempotency_keys (principal, key_hash, target, size, created_at) values (?, ?, ?, 0, ?)",
                id.principal,
                id.keyHash,
                target,
                clock.millis());
        return Optional.empty();
    }

    /// Stores the answer. Without one, or if the principal has too many bytes of them, a repeated request is
    /// refused.
    public void finish(Claim claim, String bodyHash, Optional<byte[]> answer) {
        Id id = claim.id;
        Optional<String> sealed = answer.map(bytes -> master.seal(bytes, id.purpose()));
        int _ = db.write(sql -> {
            long used = sql.number("select sum(size) from idempotency_keys where principal = ?", id.principal);
            Optional<String> kept = sealed.filter(text -> used + text.length() <= MAX_BYTES);
            return sql.update(
                    "update idempotency_keys set body_hash = ?, answer = ?, size = ?"
                            + " where principal = ? and key_hash = ?",
                    bodyHash,
                    kept.orElse(null),
                    kept.map(String::length).orElse(0),
                    id.principal,
                    id.keyHash);
        });
        running.remove(id);
    }

    /// Gives the key back, because the request changed nothing.
    public void release(Claim claim) {
        Id id = claim.id;
        int _ = db.write(sql -> sql.update(
                "delete from idempotency_keys where principal = ? and key_hash = ?", id.principal, id.keyHash));
        running.remove(id);
    }

    /// Ends a claim whose request failed with an unknown effect. The key stays used.
    public void abandon(Claim claim) {
        running.remove(claim.id);
    }

    /// An answer of another master key is not readable.
    private Optional<byte[]> unseal(Id id, String text) {
        try {
            return Optional.of(master.open(text, id.purpose()));
        } catch (GeneralSecurityException e) {
            return Optional.empty();
        }
    }

    /// A key and a token of the same user are different principals. Tokens of a user for one sandbox are the same,
    /// because a client may refresh its token before it retries.
    private static String name(Principal who) {
        return switch (who) {
            case Principal.Admin _ -> "admin";
            case Principal.User(var user) -> "user " + user;
            case Principal.Holder(var grant) -> "token " + grant.sandbox() + " " + grant.subject();
            case Principal.Worker(var grant) -> "worker " + grant.sandbox();
        };
    }

    private String hash(String text) {
        MessageDigest digest = digest();
        return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private long oldest() {
        return clock.instant().minus(KEPT).toEpochMilli();
    }

    private void prune() {
        int _ = db.write(sql -> sql.update("delete from idempotency_keys where created_at <= ?", oldest()));
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
