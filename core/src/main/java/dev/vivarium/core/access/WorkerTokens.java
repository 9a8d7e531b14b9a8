package dev.vivarium.core.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.vivarium.core.Digests;
import dev.vivarium.core.MasterKey;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerGrant.Work;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Signed tokens of the worker process inside a sandbox. They expire after a day, and end with their sandbox.
/// Thread-safe.
///
/// The server stores the hash of each token and rejects an unknown one even if its signature is valid. Verifying a
/// token takes no query.
public final class WorkerTokens {
    public static final Duration TTL = Duration.ofHours(24);

    private static final Logger LOG = LoggerFactory.getLogger(WorkerTokens.class);

    /// Differs from the header of every other token, so that the kinds are easy to distinguish.
    private static final JWSHeader HEADER = new JWSHeader.Builder(JWSAlgorithm.HS256)
            .type(new JOSEObjectType("worker+jwt"))
            .build();

    private static final String BEGINNING = HEADER.toBase64URL() + ".";
    /// Length of a signature with HS256 in base64.
    private static final int SIGNATURE_LENGTH = 43;

    private static final int MAX_LENGTH = 2048;
    private static final int SHOWN = 12;
    private static final String SANDBOX = "sandbox_id";
    private static final String TASK = "task_id";

    private final Db db;
    private final byte[] key;
    private final SecureRandom random;
    private final InstantSource clock;
    private final Map<String, WorkerGrant> byHash = new ConcurrentHashMap<>();

    private final RightsChanges changes = new RightsChanges();

    private record Row(String hash, WorkerGrant grant) {}

    private WorkerTokens(Db db, byte[] key, SecureRandom random, InstantSource clock) {
        this.db = db;
        this.key = key;
        this.random = random;
        this.clock = clock;
        // Sandboxes may have ended while no server ran.
        db.write(sql -> sql.update(
                "delete from worker_tokens where expires_at < ? or sandbox_id not in"
                        + " (select id from sandboxes where ended_at is null)",
                clock.millis()));
        db.read(sql -> sql.list("select * from worker_tokens", WorkerTokens::row))
                .forEach(row -> byHash.put(row.hash(), row.grant()));
    }

    /// Opens the tokens of a home directory. The first start creates its `master.key`.
    public static WorkerTokens open(Db db, Path home, InstantSource clock) {
        var random = new SecureRandom();
        return new WorkerTokens(db, MasterKey.of(home, random).derive("worker-tokens"), random, clock);
    }

    /// Publishes the sandboxes whose tokens were deleted.
    public RightsChanges changes() {
        return changes;
    }

    /// Reports whether `text` has the form of a worker token, valid or not.
    public static boolean isOne(String text) {
        return text.startsWith(BEGINNING);
    }

    /// Issues a token. Only the result contains the token.
    public String issue(Work work, Audience audience) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Instant expires = now.plus(TTL);
        String token = sign(new JWTClaimsSet.Builder()
                .audience(audience.text())
                .claim(SANDBOX, work.sandbox().value())
                .claim(TASK, work.task().value())
                .issueTime(Date.from(now))
                .expirationTime(Date.from(expires))
                .jwtID(Digests.sha256(TaskId.random(random).value()))
                .build());
        String hash = Digests.sha256(token);
        var grant = new WorkerGrant(work, audience, expires, fingerprint(hash));
        db.write(sql -> sql.update(
                "insert into worker_tokens (hash, sandbox_id, thread_id, user_id, task_id, audience, expires_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?)",
                hash,
                work.sandbox().value(),
                work.thread().value(),
                work.owner().value(),
                work.task().value(),
                audience.text(),
                expires.toEpochMilli()));
        byHash.put(hash, grant);
        LOG.info("{} token {} for {} in {}", audience.text(), grant.fingerprint(), work.task(), work.sandbox());
        return token;
    }

    /// Returns the grant of a token. Throws [Failure.NotAuthenticated] if the token is foreign, expired, or for
    /// another audience.
    public WorkerGrant verify(String token, Audience audience) {
        WorkerGrant grant = find(token)
                .orElseThrow(() -> refused("the token is not valid; it ends with its run, and a day after that began"));
        if (grant.audience() != audience) {
            throw refused("the token is for the " + grant.audience().text() + " API and for nothing else");
        }
        return grant;
    }

    /// Returns the grant of a token, if it is valid.
    public Optional<WorkerGrant> find(String token) {
        if (!isOne(token) || token.length() > MAX_LENGTH) {
            return Optional.empty();
        }
        return Optional.ofNullable(byHash.get(Digests.sha256(token)))
                .filter(grant -> clock.instant().isBefore(grant.expires()))
                .filter(grant -> isSigned(token, grant));
    }

    /// Replaces the tokens of running agents in a text, which programs may print or store.
    public String mask(String text) {
        var masked = new StringBuilder();
        int from = 0;
        for (int at = text.indexOf(BEGINNING); at >= 0; at = text.indexOf(BEGINNING, at + 1)) {
            int payloadEnd = text.indexOf('.', at + BEGINNING.length());
            int end = payloadEnd + 1 + SIGNATURE_LENGTH;
            if (payloadEnd >= 0
                    && payloadEnd - at < MAX_LENGTH
                    && end <= text.length()
                    && byHash.containsKey(Digests.sha256(text.substring(at, end)))) {
                masked.append(text, from, at).append("***");
                from = end;
            }
        }
        return from == 0 ? text : masked.append(text, from, text.length()).toString();
    }

    /// Deletes the tokens of a sandbox that has ended.
    public void forget(SandboxId sandbox) {
        boolean found = byHash.values().removeIf(grant -> grant.sandbox().equals(sandbox));
        if (found) {
            db.write(sql -> sql.update("delete from worker_tokens where sandbox_id = ?", sandbox.value()));
            changes.publish(sandbox);
        }
    }

    private String sign(JWTClaimsSet claims) {
        try {
            var token = new SignedJWT(HEADER, claims);
            token.sign(new MACSigner(key));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException("signing a token", e);
        }
    }

    /// Without the signature, a writer of the database could forge a token.
    private boolean isSigned(String token, WorkerGrant grant) {
        try {
            var signed = SignedJWT.parse(token);
            return signed.verify(new MACVerifier(key))
                    && grant.sandbox().value().equals(signed.getJWTClaimsSet().getStringClaim(SANDBOX))
                    && grant.task().value().equals(signed.getJWTClaimsSet().getStringClaim(TASK));
        } catch (ParseException | JOSEException e) {
            return false;
        }
    }

    private static Row row(ResultSet row) throws SQLException {
        String hash = row.getString("hash");
        var work = new Work(
                new SandboxId(row.getString("sandbox_id")),
                new ThreadId(row.getString("thread_id")),
                new UserId(row.getString("user_id")),
                new TaskId(row.getString("task_id")));
        return new Row(
                hash,
                new WorkerGrant(
                        work,
                        TextEnum.of(Audience.class, row.getString("audience")),
                        Instant.ofEpochMilli(row.getLong("expires_at")),
                        fingerprint(hash)));
    }

    private static String fingerprint(String hash) {
        return hash.substring(0, SHOWN);
    }

    private static SandboxException refused(String why) {
        return new SandboxException(new Failure.NotAuthenticated(why));
    }
}
