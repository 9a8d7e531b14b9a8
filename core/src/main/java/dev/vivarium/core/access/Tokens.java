package dev.vivarium.core.access;

import dev.vivarium.core.access.Watch.Ended;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Capability tokens: short-lived, for one sandbox, with scopes. To check one takes no query; to end one takes effect
/// on the next check, and whoever watches it is told. Thread-safe.
public final class Tokens implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Tokens.class);

    /// How long a token that has expired still proves possession to [#verifyForRefresh].
    static final Duration REFRESH_GRACE = Duration.ofSeconds(30);

    /// How long a token goes on beside the one that took its place.
    private static final Duration OVERLAP = Duration.ofSeconds(30);

    /// How far another clock may be ahead.
    private static final Duration LEEWAY = Duration.ofSeconds(5);

    private static final Duration BEAT = Duration.ofMillis(500);
    private static final int BEATS_BETWEEN_PRUNINGS = 60;
    private static final Pattern JTI = Pattern.compile("tok_[a-z0-9]{20}");
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int JTI_LENGTH = 20;

    private final InstantSource clock;
    private final SecureRandom random;
    private final SigningKeys keys;
    private final TokenForm form;
    private final Revocations revocations;
    private final Watches watches = new Watches();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread worker = Thread.ofPlatform().daemon().name("tokens").unstarted(this::run);

    /// What a token is.
    public enum Mode {
        /// A signed statement.
        JWT,
        /// A random number, of which the server knows what it means.
        OPAQUE
    }

    private Tokens(Db db, MasterKey master, SecureRandom random, InstantSource clock, Mode mode) {
        this.clock = clock;
        this.random = random;
        this.keys = new SigningKeys(db, master, random, clock);
        this.revocations = new Revocations(db, clock);
        this.form = switch (mode) {
            case JWT -> new SignedTokens(keys);
            case OPAQUE -> new OpaqueTokens(db, keys, random, clock);
        };
        worker.start();
    }

    /// The tokens of a home, whose `master.key` the first start makes.
    public static Tokens open(Db db, Path home, Mode mode, InstantSource clock) {
        var random = new SecureRandom();
        return new Tokens(db, MasterKey.of(home, random), random, clock, mode);
    }

    /// Makes a token. It can be read from the result and nowhere else.
    public IssuedToken issue(Issue wanted) {
        // Claims have seconds.
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        var grant = new Grant(
                wanted.subject(),
                wanted.sandbox(),
                wanted.thread(),
                wanted.scopes(),
                jti(),
                now.plus(wanted.ttl()),
                wanted.standing(),
                wanted.ancestors(),
                keys.obtain(wanted.sandbox()).epoch());
        return new IssuedToken(form.write(new Claims(grant, now, Optional.empty())), grant, now);
    }

    /// Makes a token in place of `old`, which goes on for a moment, so that calls on their way are not lost.
    public IssuedToken replace(Grant old, Issue wanted) {
        var issued = issue(wanted);
        revocations.retire(old, OVERLAP);
        return issued;
    }

    /// What a token says; throws [Failure.NotAuthenticated] when it is not ours, not yet or no longer good.
    public Grant verify(String token) {
        return verify(token, Duration.ZERO);
    }

    /// The same for a token that is only shown to get the next: it may have expired a moment ago.
    public Grant verifyForRefresh(String token) {
        return verify(token, REFRESH_GRACE);
    }

    private Grant verify(String token, Duration grace) {
        Claims claims = form.read(token).orElseThrow(() -> refused("the token is not valid"));
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

    /// Ends one token of a sandbox, and all that were narrowed from it.
    public void revoke(SandboxId sandbox, String jti) {
        if (!JTI.matcher(jti).matches()) {
            throw new SandboxException(new Failure.InvalidRequest("jti", "is not the id of a token"));
        }
        revocations.revoke(sandbox, jti);
        watches.tell(
                sandbox, grant -> grant.jti().equals(jti) || grant.ancestors().contains(jti), Ended.REVOKED);
    }

    /// Ends every token of a sandbox by giving it another key.
    public void rotate(SandboxId sandbox) {
        keys.rotate(sandbox);
        form.forget(sandbox);
        revocations.forget(sandbox);
        watches.tell(sandbox, _ -> true, Ended.ROTATED);
    }

    /// A sandbox has ended: its key is destroyed, and its tokens with it.
    public void forget(SandboxId sandbox) {
        try {
            keys.forget(sandbox);
            form.forget(sandbox);
            revocations.forget(sandbox);
        } finally {
            // A store that fails must not keep connections open.
            watches.tell(sandbox, _ -> true, Ended.SANDBOX_ENDED);
        }
    }

    /// Somebody's invitation to a thread was taken back or changed: their connections have to ask again.
    public void uninvited(ThreadId thread, UserId user) {
        watches.tellAll(
                grant -> grant.thread().equals(thread) && grant.subject().equals(user), Ended.UNINVITED);
    }

    /// Calls `listener` within a second when the token ends, for whatever reason. Close the result.
    public Watch watch(Grant grant, Consumer<Ended> listener) {
        return watch(grant, EnumSet.allOf(Ended.class), listener);
    }

    /// The same for some of the reasons alone.
    public Watch watch(Grant grant, Set<Ended> reasons, Consumer<Ended> listener) {
        var watch = watches.add(grant, reasons, listener);
        // It may have ended between the check and this.
        if (revocations.isDead(grant, clock.instant())) {
            watch.tell(revocations.isReplaced(grant) ? Ended.REPLACED : Ended.REVOKED);
        } else if (keys.find(grant.sandbox())
                .filter(key -> key.epoch() == grant.epoch())
                .isEmpty()) {
            watch.tell(Ended.ROTATED);
        }
        return watch;
    }

    private void run() {
        int beats = 0;
        try {
            while (!stopped.await(BEAT.toMillis(), TimeUnit.MILLISECONDS)) {
                Instant now = clock.instant();
                watches.tellAll(grant -> !now.isBefore(grant.expires()), Ended.EXPIRED);
                watches.tellAll(
                        grant -> revocations.isDead(grant, now) && revocations.isReplaced(grant), Ended.REPLACED);
                watches.tellAll(
                        grant -> revocations.isDead(grant, now) && !revocations.isReplaced(grant), Ended.REVOKED);
                if (++beats % BEATS_BETWEEN_PRUNINGS == 0) {
                    prune();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void prune() {
        try {
            revocations.prune();
            form.prune();
            keys.leftOver().forEach(this::forget);
        } catch (SandboxException e) {
            LOG.warn("what is over of tokens stays a while: {}", e.getMessage());
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
        stopped.countDown();
        try {
            worker.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
