package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.Digests;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeysTest {
    private static final UserId ANNA = new UserId("anna");

    @TempDir
    Path home;

    private Db db;
    private Keys keys;

    @BeforeEach
    void open() {
        db = Db.sqlite(home.resolve("store.db"));
        keys = keys(Optional.empty());
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void firstStartWritesAnAdminKeyThatOnlyTheOwnerCanRead() throws IOException {
        Path file = home.resolve("credentials");

        assertThat(Files.readString(file)).matches("viv_[0-9a-f]{40}\n");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(keys.authenticate(adminKey())).isEqualTo(new Principal.Admin());
    }

    @Test
    void nextStartKeepsTheAdminKey() throws IOException {
        String first = adminKey();

        keys(Optional.empty());

        assertThat(adminKey()).isEqualTo(first);
    }

    @Test
    void startRemovesReadPermissionOfOthersFromTheKeyFile() throws IOException {
        Files.setPosixFilePermissions(home.resolve("credentials"), PosixFilePermissions.fromString("rw-r--r--"));

        keys(Optional.empty());

        assertThat(Files.getPosixFilePermissions(home.resolve("credentials"))).hasSize(2);
    }

    @Test
    void configuredKeyReplacesTheGeneratedKey() throws IOException {
        var chosen = keys(Optional.of("correct-horse-battery"));

        assertThat(chosen.authenticate("correct-horse-battery")).isEqualTo(new Principal.Admin());
        assertRefused(chosen, adminKey());
    }

    @Test
    void shortConfiguredKeyIsRejected() {
        assertThatThrownBy(() -> keys(Optional.of("changeme"))).hasMessageStartingWith("api-key must be");
    }

    @Test
    void issuedKeyAuthenticatesItsUser() {
        var issued = keys.issue(ANNA);

        assertThat(issued.key()).matches("viv_[0-9a-f]{40}");
        assertThat(keys.authenticate(issued.key())).isEqualTo(new Principal.User(ANNA));
        assertThat(keys.list()).extracting(KeyInfo::keyId).containsExactly(issued.keyId());
    }

    @Test
    void keyIsAcceptedWithThePrefixOfE2b() throws IOException {
        String e2b = keys.issue(ANNA).key().replaceFirst("^viv_", "e2b_");

        assertThat(keys.authenticate(e2b)).isEqualTo(new Principal.User(ANNA));
        assertThat(keys.authenticate(adminKey().replaceFirst("^viv_", "e2b_"))).isEqualTo(new Principal.Admin());
    }

    @Test
    void keysOfEarlierVersionsRemainValid() throws IOException {
        String old = "e2b_" + "1".repeat(40);
        db.write(sql -> sql.update(
                "insert into api_keys (key_id, user_id, hash, created_at) values (?, ?, ?, ?)",
                "key_old",
                "anna",
                Digests.sha256(old),
                0));
        String admin = "e2b_" + "2".repeat(40);
        Files.writeString(home.resolve("credentials"), admin + "\n");

        var restarted = keys(Optional.empty());

        assertThat(restarted.authenticate(old)).isEqualTo(new Principal.User(ANNA));
        assertThat(restarted.authenticate(admin)).isEqualTo(new Principal.Admin());
        assertThat(restarted.revoke("key_old")).isTrue();
        assertRefused(restarted, old);
        assertRefused(restarted, old.replaceFirst("^e2b_", "viv_"));
    }

    @Test
    void issuedKeyIsNeitherStoredNorPrinted() throws IOException {
        var issued = keys.issue(ANNA);
        db.close();

        for (String file : new String[] {"store.db", "store.db-wal"}) {
            if (Files.exists(home.resolve(file))) {
                assertThat(Files.readString(home.resolve(file), StandardCharsets.ISO_8859_1))
                        .doesNotContain(issued.key());
            }
        }
        assertThat(issued.toString()).doesNotContain(issued.key());
    }

    @Test
    void revokedKeyIsRejectedImmediately() {
        var issued = keys.issue(ANNA);
        keys.authenticate(issued.key());

        assertThat(keys.revoke(issued.keyId())).isTrue();

        assertRefused(keys, issued.key());
        assertThat(keys.revoke(issued.keyId())).isFalse();
    }

    @Test
    void expiredKeyIsRejectedWithItsExpiry() {
        var now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
        var clocked = Keys.open(db, home, Optional.empty(), now::get);
        Instant expiry = now.get().plusSeconds(60);
        var issued = clocked.issue(new KeyRequest(ANNA, Optional.of("laptop"), Optional.of(expiry)));
        assertThat(clocked.authenticate(issued.key())).isEqualTo(new Principal.User(ANNA));
        assertThat(clocked.end(issued.key())).isEqualTo(expiry);

        now.set(expiry);

        assertThatThrownBy(() -> clocked.find(issued.key()))
                .hasMessageContaining("the API key expired at 2026-01-01T00:01:00Z");
        assertThat(clocked.findByHash(Keys.hash(issued.key()))).isEmpty();
        assertThat(clocked.list()).extracting(KeyInfo::expiresAt).containsExactly(Optional.of(expiry));
    }

    @Test
    void sessionEndsWithItsKey() {
        Instant expiry = Instant.now().plusSeconds(60).truncatedTo(ChronoUnit.MILLIS);
        var issued = keys.issue(new KeyRequest(ANNA, Optional.empty(), Optional.of(expiry)));

        var session = new BrowserSessions(db, keys, InstantSource.system()).begin(issued.key());

        assertThat(session.session().expires()).isEqualTo(expiry);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1970-01-01T00:00:00Z", "+1000000000-12-31T23:59:59.999999999Z"})
    void invalidExpiryIsRejected(Instant expiry) {
        var request = new KeyRequest(ANNA, Optional.empty(), Optional.of(expiry));

        assertThatThrownBy(() -> keys.issue(request)).hasMessageContaining("expires_at must be in the future");
        assertThat(keys.list()).isEmpty();
    }

    static Stream<String> badLabels() {
        return Stream.of("", "  ", "a\nb", "a\u0000b", "\u001b[31mred", "x".repeat(KeyRequest.MAX_LABEL + 1));
    }

    @ParameterizedTest
    @MethodSource("badLabels")
    void invalidLabelIsRejected(String label) {
        var request = new KeyRequest(ANNA, Optional.of(label), Optional.empty());

        assertThatThrownBy(() -> keys.issue(request)).hasMessageContaining("label must have 1 to 100 characters");
        assertThat(keys.list()).isEmpty();
    }

    @Test
    void lastUseIsListedAtOnceAndWrittenWhenSaved() {
        var now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
        var clocked = Keys.open(db, home, Optional.empty(), now::get);
        var issued = clocked.issue(new KeyRequest(ANNA, Optional.of("laptop"), Optional.empty()));
        assertThat(clocked.list().getFirst().lastUsedAt()).isEmpty();

        now.set(now.get().plusSeconds(5));
        clocked.authenticate(issued.key());

        assertThat(clocked.list().getFirst().label()).contains("laptop");
        assertThat(clocked.list().getFirst().lastUsedAt()).contains(now.get());
        assertThat(keys.list().getFirst().lastUsedAt()).isEmpty();
        clocked.saveUses();
        assertThat(keys.list().getFirst().lastUsedAt()).contains(now.get());
    }

    @Test
    void earlierUseDoesNotReplaceALaterOneOfAnotherServer() {
        var now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
        var early = Keys.open(db, home, Optional.empty(), now::get);
        Instant later = now.get().plusSeconds(5);
        var late = Keys.open(db, home, Optional.empty(), () -> later);
        var issued = early.issue(ANNA);
        early.authenticate(issued.key());
        late.authenticate(issued.key());

        late.saveUses();
        early.saveUses();

        assertThat(keys.list().getFirst().lastUsedAt()).contains(later);
    }

    @Test
    void unknownKeyIsRejected() {
        assertRefused(keys, "");
        assertRefused(keys, "e2b_" + "0".repeat(40));
        assertRefused(keys, "x".repeat(100_000));
    }

    private Keys keys(Optional<String> configured) {
        return Keys.open(db, home, configured, InstantSource.system());
    }

    private String adminKey() throws IOException {
        return Files.readString(home.resolve("credentials")).strip();
    }

    private static void assertRefused(Keys keys, String key) {
        assertThatThrownBy(() -> keys.authenticate(key))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.NotAuthenticated.class));
    }
}
