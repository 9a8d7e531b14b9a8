package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

        assertThat(Files.readString(file)).matches("e2b_[0-9a-f]{40}\n");
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

        assertThat(issued.key()).matches("e2b_[0-9a-f]{40}");
        assertThat(keys.authenticate(issued.key())).isEqualTo(new Principal.User(ANNA));
        assertThat(keys.list()).extracting(KeyInfo::keyId).containsExactly(issued.keyId());
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
