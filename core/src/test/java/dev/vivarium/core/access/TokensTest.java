package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.vivarium.core.MasterKey;
import dev.vivarium.model.SandboxId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokensTest extends TokensFixture {
    @ParameterizedTest
    @EnumSource(Tokens.Mode.class)
    void verifiedTokenReturnsItsGrant(Tokens.Mode mode) {
        reopen(mode);
        var issued = issue("fs:rw shell");

        var grant = tokens.verify(issued.token());

        assertThat(grant).isEqualTo(issued.grant());
        assertThat(grant.subject()).isEqualTo(ANNA);
        assertThat(grant.scopes().text()).isEqualTo("fs:rw shell");
        assertThat(grant.expires()).isEqualTo(time.get().plusSeconds(900));
        assertThat(issued.refreshBefore()).isEqualTo(time.get().plusSeconds(600));
    }

    @Test
    void jwtContainsTheDocumentedClaims() throws Exception {
        var claims = SignedJWT.parse(issue("fs:rw").token()).getJWTClaimsSet();

        assertThat(claims.getClaims())
                .containsKeys("sub", "aud", "scope", "thread_id", "exp", "iat", "jti")
                .containsEntry("scope", "fs:rw");
        assertThat(claims.getAudience()).containsExactly(BOX.value());
    }

    @ParameterizedTest
    @EnumSource(Tokens.Mode.class)
    void tokenExpiresOnTimeAndCanBeRefreshedForThirtySeconds(Tokens.Mode mode) {
        reopen(mode);
        String token = issue("fs:ro").token();
        advance(Duration.ofSeconds(899));
        tokens.verify(token);

        advance(Duration.ofSeconds(1));
        assertRejected(token);
        tokens.verifyForRefresh(token);

        advance(Duration.ofSeconds(30));
        assertThatThrownBy(() -> tokens.verifyForRefresh(token)).hasMessageContaining("expired");
    }

    @ParameterizedTest
    @EnumSource(Tokens.Mode.class)
    void revokedTokenIsRejectedImmediatelyAndAfterARestart(Tokens.Mode mode) {
        reopen(mode);
        var revoked = issue("fs:ro");
        var valid = issue("fs:ro");

        tokens.revoke(BOX, revoked.grant().jti());
        assertRejected(revoked.token());
        reopen(mode);

        assertRejected(revoked.token());
        tokens.verify(valid.token());
    }

    @Test
    void revokingDoesNotAffectTokensOfAnotherSandbox() {
        var issued = issue("fs:ro");

        tokens.revoke(OTHER, issued.grant().jti());

        tokens.verify(issued.token());
    }

    @Test
    void revokingATokenRevokesItsNarrowedTokens() {
        var parent = issue("fs:rw");
        var child = tokens.issue(new TokenRequest(
                ANNA,
                Grant.Standing.OWNER,
                BOX,
                THREAD,
                Scopes.parse("fs:ro"),
                TokenRequest.MIN_TTL,
                List.of(parent.grant().jti())));
        tokens.verify(child.token());

        tokens.revoke(BOX, parent.grant().jti());

        assertRejected(child.token());
    }

    @ParameterizedTest
    @EnumSource(Tokens.Mode.class)
    void replacedTokenIsValidForThirtySeconds(Tokens.Mode mode) {
        reopen(mode);
        var old = issue("fs:rw");
        var child = tokens.issue(new TokenRequest(
                ANNA,
                Grant.Standing.OWNER,
                BOX,
                THREAD,
                Scopes.parse("fs:ro"),
                TokenRequest.MAX_TTL,
                List.of(old.grant().jti())));
        var next = tokens.replace(old.grant(), request("fs:rw"));

        advance(Duration.ofSeconds(29));
        tokens.verify(old.token());
        advance(Duration.ofSeconds(1));

        assertRejected(old.token());
        tokens.verify(next.token());
        tokens.verify(child.token());
    }

    /// The store forgets a refreshed token when it would have expired. A token narrowed from it and refreshed since
    /// may live longer.
    @Test
    void replacedAndRevokedTokenStaysRevokedAfterARestart() {
        var parent = issue("fs:rw").grant();
        var child = new Grant(
                ANNA,
                BOX,
                THREAD,
                Scopes.parse("fs:ro"),
                "tok_child",
                time.get().plus(Duration.ofMinutes(29)),
                Grant.Standing.OWNER,
                List.of(parent.jti()),
                parent.epoch());
        var revocations = new Revocations(db, clock);
        revocations.retire(parent, child, Duration.ofSeconds(30));
        revocations.retire(issue("fs:ro").grant(), child, Duration.ofSeconds(30));
        advance(Duration.ofMinutes(14));
        revocations.revoke(BOX, parent.jti());
        advance(Duration.ofMinutes(2));
        revocations.prune();

        assertThat(new Revocations(db, clock).isDead(child, time.get())).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Tokens.Mode.class)
    void rotationRevokesTheTokensOfOneSandboxOnly(Tokens.Mode mode) {
        reopen(mode);
        var mine = issue("fs:ro");
        // A verified token is cached. The rotation must remove it from the cache.
        tokens.verify(mine.token());
        var others = tokens.issue(new TokenRequest(
                ANNA, Grant.Standing.OWNER, OTHER, THREAD, Scopes.parse("fs:ro"), TokenRequest.MAX_TTL, List.of()));

        tokens.rotate(BOX);

        assertRejected(mine.token());
        tokens.verify(others.token());
        tokens.verify(issue("fs:ro").token());
        reopen(mode);
        assertRejected(mine.token());
    }

    @ParameterizedTest
    @EnumSource(Tokens.Mode.class)
    void deletingASandboxRevokesItsTokens(Tokens.Mode mode) {
        reopen(mode);
        var issued = issue("fs:ro");
        tokens.verify(issued.token());

        tokens.forget(BOX);

        assertRejected(issued.token());
    }

    @Test
    void tokensSurviveARestart() {
        String token = issue("fs:ro").token();

        reopen(Tokens.Mode.JWT);

        tokens.verify(token);
    }

    @Test
    void signingKeysAreEncryptedAndOnlyTheOwnerCanReadTheMasterKey() throws Exception {
        issue("fs:ro");
        byte[] key = keys().find(BOX).orElseThrow().bytes();

        String stored = db.<Optional<String>>read(
                        sql -> sql.first("select sealed from signing_keys", row -> row.getString(1)))
                .orElseThrow();

        byte[] sealed = Base64.getDecoder().decode(stored);
        assertThat(sealed).hasSize(12 + key.length + 16);
        assertThat(new String(sealed, StandardCharsets.ISO_8859_1))
                .doesNotContain(new String(key, StandardCharsets.ISO_8859_1));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("master.key"))))
                .isEqualTo("rw-------");
    }

    @Test
    void undecryptableSigningKeyInvalidatesOnlyItsTokens() throws Exception {
        String token = issue("fs:ro").token();
        Files.writeString(home.resolve("master.key"), "ab".repeat(32) + "\n");

        reopen(Tokens.Mode.JWT);

        assertRejected(token);
        tokens.verify(issue("fs:ro").token());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "changeme", "00"})
    void malformedMasterKeyFailsTheStart(String text) throws Exception {
        Files.writeString(home.resolve("master.key"), text);

        assertThatThrownBy(() -> Tokens.open(db, home, Tokens.Mode.JWT, scheduler))
                .hasMessageContaining("64 hexadecimal digits");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "..",
                "...",
                "a.b.c",
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..",
                "vvt_",
                "null",
                "e2b_0",
                "\u20ac.\u20ac.\u20ac"
            })
    void malformedTokenIsRejected(String text) {
        assertRejected(text);
    }

    @Test
    void modifiedTokenIsRejected() {
        String[] parts = issue("fs:ro").token().split("\\.");
        String payload = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        String wider = encode(payload.replace("fs:ro", "fs:rw"));
        byte[] signature = Base64.getUrlDecoder().decode(parts[2]);
        signature[0] ^= 1;

        assertRejected(parts[0] + "." + wider + "." + parts[2]);
        assertRejected(parts[0] + "." + parts[1] + "."
                + Base64.getUrlEncoder().withoutPadding().encodeToString(signature));
        assertRejected(parts[0] + "." + parts[1] + ".");
        assertRejected(parts[0] + "." + parts[1]);
        assertRejected(parts[0] + "." + parts[1] + "." + parts[2] + ".x");
    }

    @Test
    void tokenCannotChooseItsAlgorithm() throws Exception {
        byte[] key = keyOf(BOX);
        var claims = claims(BOX);
        var none = new PlainJWT(claims).serialize();
        var pair = KeyPairGenerator.getInstance("RSA");
        pair.initialize(2048);

        assertRejected(none);
        for (String alg : List.of("none", "None", "nOnE")) {
            String body = none.split("\\.")[1];
            assertRejected(encode("{\"alg\":\"" + alg + "\"}") + "." + body + ".");
            assertRejected(encode("{\"alg\":\"" + alg + "\",\"typ\":\"JWT\"}") + "." + body + ".");
        }
        assertRejected(sign(
                new JWSHeader(JWSAlgorithm.RS256),
                claims,
                new RSASSASigner(pair.generateKeyPair().getPrivate())));
        byte[] longer = java.util.Arrays.copyOf(key, 64);
        assertRejected(sign(new JWSHeader(JWSAlgorithm.HS512), claims, new MACSigner(longer)));
    }

    @Test
    void unexpectedHeaderIsRejectedEvenWithAValidSignature() throws Exception {
        byte[] key = keyOf(BOX);
        for (String name : List.of("jku", "x5u", "kid")) {
            var header = JWSHeader.parse(Map.of("alg", "HS256", "typ", "JWT", name, "http://localhost/../../dev/null"));
            assertRejected(sign(header, claims(BOX), new MACSigner(key)));
        }
        assertRejected(sign(new JWSHeader(JWSAlgorithm.HS256), claims(BOX), new MACSigner(key)));
        assertThat(tokens.verify(sign(header(), claims(BOX), new MACSigner(key)))
                        .sandbox())
                .isEqualTo(BOX);
    }

    @Test
    void tokenSignedWithAnotherSandboxesKeyIsRejected() throws Exception {
        keyOf(BOX);

        assertRejected(sign(header(), claims(BOX), new MACSigner(keyOf(OTHER))));
    }

    @Test
    void unexpectedClaimsAreRejectedEvenWithAValidSignature() throws Exception {
        byte[] key = keyOf(BOX);
        var good = claims(BOX);
        Date future = Date.from(time.get().plusSeconds(300));
        for (JWTClaimsSet claims : List.of(
                new JWTClaimsSet.Builder(good)
                        .audience(List.of(BOX.value(), OTHER.value()))
                        .build(),
                new JWTClaimsSet.Builder(good).audience((String) null).build(),
                new JWTClaimsSet.Builder(good).notBeforeTime(future).build(),
                new JWTClaimsSet.Builder(good).issueTime(future).build(),
                new JWTClaimsSet.Builder(good).expirationTime(null).build(),
                new JWTClaimsSet.Builder(good)
                        .expirationTime(Date.from(time.get()))
                        .build(),
                new JWTClaimsSet.Builder(good).jwtID(null).build(),
                new JWTClaimsSet.Builder(good).subject(null).build(),
                new JWTClaimsSet.Builder(good).claim("scope", "root").build(),
                new JWTClaimsSet.Builder(good).claim("scope", List.of("fs:rw")).build(),
                new JWTClaimsSet.Builder(good).claim("thread_id", null).build(),
                new JWTClaimsSet.Builder(good).claim("epoch", 2).build(),
                new JWTClaimsSet.Builder(good).claim("standing", "king").build())) {
            assertRejected(sign(header(), claims, new MACSigner(key)));
        }
    }

    @Test
    void hostileJsonIsRejected() {
        String header = issue("fs:ro").token().split("\\.")[0];
        assertRejected(header + "." + encode("[".repeat(3000)) + ".AAAA");
        assertRejected(header + "." + encode("{\"a\":".repeat(1000)) + ".AAAA");
        assertRejected(header + "." + "A".repeat(100_000) + ".AAAA");
        assertRejected(header + "." + encode("{\"aud\":\"" + BOX + "\",\"aud\":\"" + OTHER + "\"}") + ".AAAA");
        assertRejected(header + "." + encode("{\"aud\":{\"a\":1}}") + ".AAAA");
        assertRejected(header + "." + encode("{\"aud\":\"../../etc/passwd\"}") + ".AAAA");
    }

    @Test
    void tokenIsNeitherStoredNorPrinted() throws Exception {
        reopen(Tokens.Mode.OPAQUE);
        var issued = issue("fs:rw");
        tokens.revoke(BOX, issued.grant().jti());

        try (var files = Files.list(home)) {
            for (Path file : files.toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .doesNotContain(issued.token());
            }
        }
        assertThat(issued.toString()).doesNotContain(issued.token());
    }

    private SigningKeys keys() {
        var random = new SecureRandom();
        return new SigningKeys(db, MasterKey.of(home, random), random, clock);
    }

    private byte[] keyOf(SandboxId sandbox) {
        tokens.issue(new TokenRequest(
                ANNA, Grant.Standing.OWNER, sandbox, THREAD, Scopes.parse("fs:ro"), TokenRequest.MAX_TTL, List.of()));
        return keys().find(sandbox).orElseThrow().bytes();
    }

    private JWTClaimsSet claims(SandboxId sandbox) {
        var grant = new Grant(
                ANNA,
                sandbox,
                THREAD,
                Scopes.parse("fs:rw"),
                "tok_x",
                time.get().plusSeconds(60),
                Grant.Standing.OWNER,
                List.of(),
                1);
        return new Claims(grant, time.get(), Optional.empty()).write();
    }

    private static JWSHeader header() {
        return new JWSHeader.Builder(JWSAlgorithm.HS256)
                .type(com.nimbusds.jose.JOSEObjectType.JWT)
                .build();
    }

    private static String sign(JWSHeader header, JWTClaimsSet claims, JWSSigner signer) throws Exception {
        var token = new SignedJWT(header, claims);
        token.sign(signer);
        return token.serialize();
    }

    private static String encode(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
