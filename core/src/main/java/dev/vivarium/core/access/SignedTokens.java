package dev.vivarium.core.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.SignedJWT;
import dev.vivarium.core.Digests;
import dev.vivarium.core.access.SigningKeys.SigningKey;
import dev.vivarium.model.SandboxId;
import java.text.ParseException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/// Self-contained tokens: JWTs signed with HMAC-SHA-256 under the key of their sandbox. Thread-safe.
///
/// The server writes exactly one header and rejects a token with any other. The header never selects the algorithm.
///
/// Clients send the same token many times, so verified tokens are cached by hash until the key of their sandbox
/// changes. The cache does not cover expiry and revocation: the caller checks both.
final class SignedTokens implements TokenForm {
    private static final JWSHeader HEADER =
            new JWSHeader.Builder(JWSAlgorithm.HS256).type(JOSEObjectType.JWT).build();
    private static final String BEGINNING = HEADER.toBase64URL() + ".";

    /// Exceeds the size of a token with the longest names.
    private static final int MAX_LENGTH = 8 * 1024;

    /// Maximum size of the cache. A full cache is cleared.
    private static final int MAX_KNOWN = 10_000;

    private final SigningKeys keys;
    private final Map<String, Known> known = new ConcurrentHashMap<>();

    /// Claims of a token and the key that verified its signature.
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
        String hash = Digests.sha256(token);
        var before = Optional.ofNullable(known.get(hash));
        if (before.filter(this::isCurrent).isPresent()) {
            return before.map(Known::claims);
        }
        Optional<Known> found = check(token, keys::find);
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

    @Override
    public Optional<Claims> readEnded(String token) {
        boolean isOne = token.length() <= MAX_LENGTH && token.startsWith(BEGINNING);
        return isOne ? check(token, keys::findEnded).map(Known::claims) : Optional.empty();
    }

    private static Optional<Known> check(String token, Function<SandboxId, Optional<SigningKey>> keys) {
        try {
            var signed = SignedJWT.parse(token);
            var key = keys.apply(Claims.audience(signed.getJWTClaimsSet()));
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

    /// Clears the cache only. Deleting the key invalidates the tokens.
    @Override
    public void forget(SandboxId sandbox) {
        known.values().removeIf(token -> token.claims().grant().sandbox().equals(sandbox));
    }

    /// Clears the cache only. Tokens expire on their own, and the next use of a valid token caches it again.
    @Override
    public void prune() {
        known.clear();
    }
}
