package dev.vivarium.core.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.SignedJWT;
import dev.vivarium.model.SandboxId;
import java.text.ParseException;
import java.util.Optional;

/// Tokens that say everything themselves: JWTs signed with HMAC-SHA-256 under the key of their sandbox. Thread-safe.
///
/// The header of a token is never believed: there is one that we write, and a token with any other is not ours.
final class SignedTokens implements TokenForm {
    private static final JWSHeader HEADER =
            new JWSHeader.Builder(JWSAlgorithm.HS256).type(JOSEObjectType.JWT).build();
    private static final String BEGINNING = HEADER.toBase64URL() + ".";

    /// More than the longest names make.
    private static final int MAX_LENGTH = 8 * 1024;

    private final SigningKeys keys;

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
        try {
            var signed = SignedJWT.parse(token);
            var key = keys.find(Claims.audience(signed.getJWTClaimsSet()));
            if (key.isEmpty() || !signed.verify(new MACVerifier(key.get().bytes()))) {
                return Optional.empty();
            }
            var claims = Claims.read(signed.getJWTClaimsSet());
            return claims.grant().epoch() == key.get().epoch() ? Optional.of(claims) : Optional.empty();
        } catch (ParseException | JOSEException | IllegalStateException e) {
            return Optional.empty();
        }
    }

    /// The keys are what ends them.
    @Override
    public void forget(SandboxId sandbox) {}

    /// They end by themselves.
    @Override
    public void prune() {}
}
