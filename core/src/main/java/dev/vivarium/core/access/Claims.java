package dev.vivarium.core.access;

import com.nimbusds.jwt.JWTClaimsSet;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A grant in the form of token claims, with its issue time. Immutable.
record Claims(Grant grant, Instant issuedAt, Optional<Instant> notBefore) {
    private static final String SCOPE = "scope";
    private static final String THREAD = "thread_id";
    private static final String OWNER = "owner";
    private static final String STANDING = "standing";
    private static final String ANCESTORS = "ancestors";
    private static final String EPOCH = "epoch";

    JWTClaimsSet write() {
        var claims = new JWTClaimsSet.Builder()
                .subject(grant.subject().value())
                .audience(grant.sandbox().value())
                .claim(SCOPE, grant.scopes().text())
                .claim(THREAD, grant.thread().value())
                .claim(OWNER, grant.key().user().value())
                .claim(STANDING, grant.standing().text())
                .claim(EPOCH, grant.epoch())
                .issueTime(Date.from(issuedAt))
                .expirationTime(Date.from(grant.expires()))
                .jwtID(grant.jti());
        if (!grant.ancestors().isEmpty()) {
            claims.claim(ANCESTORS, grant.ancestors());
        }
        return claims.build();
    }

    /// Throws [ParseException] for claims that this server did not write.
    static Claims read(JWTClaimsSet claims) throws ParseException {
        try {
            var ancestors = claims.getStringListClaim(ANCESTORS);
            var grant = new Grant(
                    new UserId(present(claims.getSubject())),
                    audience(claims),
                    new ThreadKey(owner(claims), new ThreadId(present(claims.getStringClaim(THREAD)))),
                    Scopes.parse(present(claims.getStringClaim(SCOPE))),
                    present(claims.getJWTID()),
                    present(claims.getExpirationTime()).toInstant(),
                    TextEnum.of(Grant.Standing.class, present(claims.getStringClaim(STANDING))),
                    ancestors == null ? List.of() : ancestors,
                    present(claims.getIntegerClaim(EPOCH)));
            return new Claims(
                    grant,
                    present(claims.getIssueTime()).toInstant(),
                    Optional.ofNullable(claims.getNotBeforeTime()).map(Date::toInstant));
        } catch (SandboxException | IllegalArgumentException e) {
            throw new ParseException("the claims are not ours", 0);
        }
    }

    /// A token of an older server has no owner. It then works only if the owner is its subject.
    private static UserId owner(JWTClaimsSet claims) throws ParseException {
        @Nullable String owner = claims.getStringClaim(OWNER);
        return new UserId(owner == null ? present(claims.getSubject()) : owner);
    }

    /// Returns the sandbox in the audience of a token. Before the signature is verified, use the result only to
    /// find the verification key.
    static SandboxId audience(JWTClaimsSet claims) throws ParseException {
        var audience = claims.getAudience();
        if (audience.size() != 1 || !SandboxId.isWellFormed(audience.getFirst())) {
            throw new ParseException("the audience is not a sandbox", 0);
        }
        return new SandboxId(audience.getFirst());
    }

    private static <T> T present(@Nullable T value) throws ParseException {
        if (value == null) {
            throw new ParseException("a claim is missing", 0);
        }
        return value;
    }
}
