package dev.vivarium.core.access;

import com.nimbusds.jwt.JWTClaimsSet;
import dev.vivarium.core.Digests;
import dev.vivarium.core.MasterKey;
import dev.vivarium.core.access.SigningKeys.SigningKey;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.security.SecureRandom;
import java.text.ParseException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Opaque tokens: 256 random bits each. The server stores their claims under their SHA-256. Thread-safe.
final class OpaqueTokens implements TokenForm {
    private static final Logger LOG = LoggerFactory.getLogger(OpaqueTokens.class);
    private static final String PREFIX = "vvt_";
    private static final int BYTES = 32;
    private static final int LENGTH = PREFIX.length() + 43;
    private static final int MOST = 100_000;

    private final Db db;
    private final SigningKeys keys;
    private final SecureRandom random;
    private final InstantSource clock;
    private final Map<String, Claims> byHash = new ConcurrentHashMap<>();

    private record Row(String hash, String claims) {}

    OpaqueTokens(Db db, SigningKeys keys, SecureRandom random, InstantSource clock) {
        this.db = db;
        this.keys = keys;
        this.random = random;
        this.clock = clock;
        var rows = db.read(sql ->
                sql.list("select hash, claims from opaque_tokens", row -> new Row(row.getString(1), row.getString(2))));
        rows.forEach(this::remember);
    }

    @Override
    public String write(Claims claims) {
        if (byHash.size() >= MOST) {
            throw new SandboxException(new AccessFailure.TooManyTokens());
        }
        String token = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(MasterKey.bytes(random, BYTES));
        String hash = Digests.sha256(token);
        db.write(sql -> sql.update(
                "insert into opaque_tokens (hash, claims, sandbox_id, expires_at) values (?, ?, ?, ?)",
                hash,
                claims.write().toString(),
                claims.grant().sandbox().value(),
                claims.grant().expires().toEpochMilli()));
        byHash.put(hash, claims);
        return token;
    }

    @Override
    public Optional<Claims> read(String token) {
        return find(token, keys::find);
    }

    @Override
    public Optional<Claims> readEnded(String token) {
        return find(token, keys::findEnded);
    }

    /// A rotated key invalidates all earlier tokens of its sandbox.
    private Optional<Claims> find(String token, Function<SandboxId, Optional<SigningKey>> present) {
        if (token.length() != LENGTH || !token.startsWith(PREFIX)) {
            return Optional.empty();
        }
        return Optional.ofNullable(byHash.get(Digests.sha256(token)))
                .filter(claims -> present.apply(claims.grant().sandbox())
                        .filter(key -> key.epoch() == claims.grant().epoch())
                        .isPresent());
    }

    @Override
    public void forget(SandboxId sandbox) {
        boolean found =
                byHash.values().removeIf(claims -> claims.grant().sandbox().equals(sandbox));
        if (found) {
            db.write(sql -> sql.update("delete from opaque_tokens where sandbox_id = ?", sandbox.value()));
        }
    }

    @Override
    public void prune() {
        Instant limit = clock.instant().minus(Tokens.REFRESH_GRACE);
        boolean found =
                byHash.values().removeIf(claims -> claims.grant().expires().isBefore(limit));
        if (found) {
            db.write(sql -> sql.update("delete from opaque_tokens where expires_at < ?", limit.toEpochMilli()));
        }
    }

    private void remember(Row row) {
        try {
            byHash.put(row.hash(), Claims.read(JWTClaimsSet.parse(row.claims())));
        } catch (ParseException e) {
            LOG.warn("a token of the store cannot be read and is worth nothing");
        }
    }
}
