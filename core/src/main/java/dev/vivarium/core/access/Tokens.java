package dev.vivarium.core.access;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/// Capability tokens: short-lived, for one sandbox, with scopes. To check one takes no query. Thread-safe.
public final class Tokens {
    /// How far another clock may be ahead.
    private static final Duration LEEWAY = Duration.ofSeconds(5);

    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int JTI_LENGTH = 20;

    private final InstantSource clock;
    private final SecureRandom random;
    private final SigningKeys keys;
    private final TokenForm form;

    private Tokens(InstantSource clock, SecureRandom random, SigningKeys keys, TokenForm form) {
        this.clock = clock;
        this.random = random;
        this.keys = keys;
        this.form = form;
    }

    /// The tokens of a home, whose `master.key` the first start makes.
    public static Tokens open(Db db, Path home, InstantSource clock) {
        var random = new SecureRandom();
        var keys = new SigningKeys(db, MasterKey.of(home, random), random, clock);
        return new Tokens(clock, random, keys, new SignedTokens(keys));
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
                wanted.ancestors());
        int epoch = keys.obtain(wanted.sandbox()).epoch();
        return new IssuedToken(form.write(new Claims(grant, now, java.util.Optional.empty(), epoch)), grant, now);
    }

    /// What a token says; throws [Failure.NotAuthenticated] when it is not ours, not yet or no longer good.
    public Grant verify(String token) {
        Claims claims = form.read(token).orElseThrow(() -> refused("the token is not valid"));
        Instant now = clock.instant();
        if (!now.isBefore(claims.grant().expires())) {
            throw refused("the token has expired; refresh it, or ask for a new one");
        }
        Instant latest = now.plus(LEEWAY);
        if (claims.issuedAt().isAfter(latest)
                || claims.notBefore().filter(latest::isBefore).isPresent()) {
            throw refused("the token is not valid yet");
        }
        return claims.grant();
    }

    /// A sandbox has ended: its key is destroyed, and its tokens with it.
    public void forget(SandboxId sandbox) {
        keys.forget(sandbox);
        form.forget(sandbox);
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
}
