package dev.vivarium.core.access;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Capability tokens: short-lived, for one sandbox, with scopes. Thread-safe.
///
/// Verifying a token takes no query. A revocation applies to the next verification, and listeners of [#changes] close
/// open connections.
public final class Tokens implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Tokens.class);

    /// Time after expiry during which [#verifyForRefresh] accepts a token.
    static final Duration REFRESH_GRACE = Duration.ofSeconds(30);

    /// Time during which a replaced token stays valid.
    private static final Duration OVERLAP = Duration.ofSeconds(30);

    /// Tolerated clock skew.
    private static final Duration LEEWAY = Duration.ofSeconds(5);

    private static final Duration PRUNE_EVERY = Duration.ofSeconds(30);
    private static final Pattern JTI = Pattern.compile("tok_[a-z0-9]{20}");
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int JTI_LENGTH = 20;

    private final InstantSource clock;
    private final SecureRandom random;
    private final SandboxRows rows;
    private final SigningKeys keys;
    private final TokenForm form;
    private final Revocations revocations;
    private final RightsChanges changes = new RightsChanges();
    private final Scheduler.Jobs jobs;

    /// Token format.
    public enum Mode {
        /// Signed claims.
        JWT,
        /// Random number. The server stores the claims.
        OPAQUE
    }

    private Tokens(Db db, MasterKey master, SecureRandom random, Scheduler scheduler, Mode mode) {
        this.clock = scheduler.clock();
        this.random = random;
        this.rows = new SandboxRows(db);
        this.keys = new SigningKeys(db, master, random, clock);
        this.revocations = new Revocations(db, clock);
        this.form = switch (mode) {
            case JWT -> new SignedTokens(keys);
            case OPAQUE -> new OpaqueTokens(db, keys, random, clock);
        };
        this.jobs = scheduler.jobs().every(PRUNE_EVERY, "deletion of expired tokens", this::prune);
    }

    /// Opens the tokens of a home directory. The first start creates its `master.key`.
    public static Tokens open(Db db, Path home, Mode mode, Scheduler scheduler) {
        var random = new SecureRandom();
        return new Tokens(db, MasterKey.of(home, random), random, scheduler, mode);
    }

    /// Publishes the sandboxes whose tokens were revoked, replaced or deleted.
    public RightsChanges changes() {
        return changes;
    }

    /// Issues a token. Only the result contains the token.
    public IssuedToken issue(TokenRequest wanted) {
        // Claims have a resolution of seconds.
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        var grant = new Grant(
                wanted.subject(),
                wanted.sandbox(),
                wanted.key(),
                wanted.scopes(),
                jti(),
                now.plus(wanted.ttl()),
                wanted.standing(),
                wanted.ancestors(),
                keys.obtain(wanted.sandbox()).epoch());
        return new IssuedToken(form.write(new Claims(grant, now, Optional.empty())), grant, now);
    }

    /// Issues a token in place of `old`, which stays valid for a short overlap so that calls in transit succeed.
    public IssuedToken replace(Grant old, TokenRequest wanted) {
        var issued = issue(wanted);
        revocations.retire(old, issued.grant(), OVERLAP);
        changes.publish(old.sandbox());
        return issued;
    }

    /// Returns the grant of a token. Throws [Failure.NotAuthenticated] if the token is foreign, expired, revoked or
    /// not yet valid.
    public Grant verify(String token) {
        return verify(token, Duration.ZERO);
    }

    /// Like [#verify], for a token that is presented to get the next one: accepts it shortly after expiry.
    public Grant verifyForRefresh(String token) {
        return verify(token, REFRESH_GRACE);
    }

    private Grant verify(String token, Duration grace) {
        Claims claims = form.read(token).orElseThrow(() -> invalid(token));
        Grant grant = claims.grant();
        Instant now = clock.instant();
        if (!now.isBefore(grant.expires().plus(grace))) {
            throw refused("the token has expired; refresh it, or ask for a new one");
        }
        Instant latest = now.plus(LEEWAY);
        if (claims.issuedAt().isAfter(latest)
                || claims.notBefore().filter(latest::isBefore).isPresent()) {
            throw refused("the token is not valid yet");
        }
        if (revocations.isDead(grant, now)) {
            throw refused("the token was revoked or replaced; ask for a new one");
        }
        return grant;
    }

    /// Returns the grant of a token that this server issued, also if the token has expired or was revoked. It names
    /// the token in the audit log and permits nothing.
    public Optional<Grant> read(String token) {
        return form.read(token).map(Claims::grant);
    }

    /// Returns the failure for a token that is not valid. The holder of a token learns how its sandbox ended.
    private SandboxException invalid(String token) {
        return form.readEnded(token)
                .map(Claims::grant)
                .filter(grant -> !revocations.isDead(grant, clock.instant()))
                .flatMap(grant -> rows.find(grant.sandbox())
                        .flatMap(SandboxRow::end)
                        .map(end -> new SandboxException(
                                new Failure.NoSuchSandbox(grant.sandbox().value(), Optional.of(end)))))
                .orElseGet(() -> refused("the token is not valid"));
    }

    /// Returns the time at which the token ends: its expiry, or the end of the overlap if it was replaced.
    public Instant end(Grant grant) {
        return revocations.replacedAt(grant).filter(grant.expires()::isAfter).orElse(grant.expires());
    }

    /// Returns the last token in the chain of replacements, if it is valid.
    public Optional<Grant> successor(Grant replaced) {
        Instant now = clock.instant();
        return revocations
                .successor(replaced)
                .filter(next -> now.isBefore(next.expires()) && !revocations.isDead(next, now))
                .filter(next -> keys.find(next.sandbox())
                        .filter(key -> key.epoch() == next.epoch())
                        .isPresent());
    }

    /// Revokes a token of a sandbox and all tokens narrowed from it.
    public void revoke(SandboxId sandbox, String jti) {
        Failure.InvalidRequest.require(JTI.matcher(jti).matches(), "jti", "is not the id of a token");
        revocations.revoke(sandbox, jti);
        changes.publish(sandbox);
    }

    /// Revokes every token of a sandbox by replacing its key.
    public void rotate(SandboxId sandbox) {
        keys.rotate(sandbox);
        form.forget(sandbox);
        revocations.forget(sandbox);
        changes.publish(sandbox);
    }

    /// Invalidates the tokens of a sandbox that has ended.
    public void forget(SandboxId sandbox) {
        keys.retire(sandbox);
        changes.publish(sandbox);
    }

    private void prune() {
        try {
            revocations.prune();
            form.prune();
            keys.prune().forEach(revocations::forget);
            keys.endedWithKey().forEach(this::forget);
        } catch (SandboxException e) {
            LOG.warn("expired tokens are deleted later: {}", e.getMessage());
        }
    }

    private String jti() {
        var text = new StringBuilder("tok_");
        for (int i = 0; i < JTI_LENGTH; i++) {
            text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return text.toString();
    }

    private static SandboxException refused(String why) {
        return new SandboxException(new Failure.NotAuthenticated(why));
    }

    /// Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
