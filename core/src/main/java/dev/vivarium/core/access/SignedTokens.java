package dev.vivarium.core.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.SignedJWT;
import dev.vivarium.core.access.SigningKeys.SigningKey;
import dev.vivarium.model.SandboxId;
import java.text.ParseException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Tokens that say everything themselves: JWTs signed with HMAC-SHA-256 under the key of their sandbox. Thread-safe.
///
/// The header of a token is never believed: there is one that we write, and a token with any other is not ours.
///
/// One that was found good is known by its hash for as long as its sandbox has the same key, because a caller shows the
/// same one again and again. What may change meanwhile, its expiry and its revocation, is not asked here.
final class SignedTokens implements TokenForm {
    private static final JWSHeader HEADER =
            new JWSHeader.Builder(JWSAlgorithm.HS256).type(JOSEObjectType.JWT).build();
    private static final String BEGINNING = HEADER.toBase64URL() + ".";

    /// More than the longest names make.
    private static final int MAX_LENGTH = 8 * 1024;

    /// How many are known at most; all are forgotten when there are more.
    private static final int MAX_KNOWN = 10_000;

    private final SigningKeys keys;
    private final Map<String, Known> known = new ConcurrentHashMap<>();

    /// What a token says, and the very key that says that it is so.
    private record Known(Claims claims, SigningKey key) {}

    SignedTokens(SigningKeys keys) {
        this.keys = keys;
    }

    @Override
    public String write(Claims claims) {
        try {
            var token = new SignedJWT(HEADER, claims.write());
            token.sign(new MACSigner(keys.obtain(claims.grant().sandbox()).bytes()));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException("signing a token", e);
        }
    }

    @Override
    public Optional<Claims> read(String token) {
        if (token.length() > MAX_LENGTH || !token.startsWith(BEGINNING)) {
            return Optional.empty();
        }
        String hash = OpaqueTokens.hash(token);
        var before = Optional.ofNullable(known.get(hash));
        if (before.filter(this::isCurrent).isPresent()) {
            return before.map(Known::claims);
        }
        Optional<Known> found = check(token);
        if (known.size() >= MAX_KNOWN) {
            known.clear();
        }
        found.ifPresent(good -> known.put(hash, good));
        return found.map(Known::claims);
    }

    private boolean isCurrent(Known token) {
        return keys.find(token.claims().grant().sandbox())
                .filter(key -> key == token.key())
                .isPresent();
    }

    private Optional<Known> check(String token) {
        try {
            var signed = SignedJWT.parse(token);
            var key = keys.find(Claims.audience(signed.getJWTClaimsSet()));
            if (key.isEmpty() || !signed.verify(new MACVerifier(key.get().bytes()))) {
                return Optional.empty();
            }
            var claims = Claims.read(signed.getJWTClaimsSet());
            return claims.grant().epoch() == key.get().epoch()
                    ? Optional.of(new Known(claims, key.get()))
                    : Optional.empty();
        } catch (ParseException | JOSEException | IllegalStateException e) {
            return Optional.empty();
        }
    }

    /// The keys are what ends them.
    @Override
    public void forget(SandboxId sandbox) {
        known.values().removeIf(token -> token.claims().grant().sandbox().equals(sandbox));
    }

    /// They end by themselves; what is still shown is known again at once.
    @Override
    public void prune() {
        known.clear();
    }
}
