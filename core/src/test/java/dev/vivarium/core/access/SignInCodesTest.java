package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SignInCodesTest {
    private static final UserId ANNA = new UserId("anna");

    @TempDir
    private Path home;

    private Db db;
    private Keys keys;
    private BrowserSessions sessions;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @BeforeEach
    void open() {
        db = Db.sqlite(home.resolve("store.db"));
        keys = Keys.open(db, home, Optional.empty(), () -> now);
        sessions = new BrowserSessions(db, keys, () -> now);
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void codeStartsOneSessionOfItsKey() {
        var code = sessions.issueCode(keys.issue(ANNA).key());

        var begun = sessions.beginWithCode(code.text());

        assertThat(sessions.find(begun.id()).orElseThrow().who()).isEqualTo(new Principal.User(ANNA));
        assertRefused(code.text());
    }

    @Test
    void codeOfTheAdminStartsASessionOfTheAdmin() {
        var begun = sessions.beginWithCode(sessions.issueAdminCode().text());

        assertThat(sessions.find(begun.id()).orElseThrow().who()).isEqualTo(new Principal.Admin());
    }

    @Test
    void codeExpires() {
        var code = sessions.issueAdminCode();
        now = now.plus(SignInCodes.LIFETIME);

        assertRefused(code.text());
    }

    @Test
    void codeIsInvalidAfterTheRevocationOfItsKey() {
        var key = keys.issue(ANNA);
        var code = sessions.issueCode(key.key());
        keys.revoke(key.keyId());

        assertRefused(code.text());
    }

    @Test
    void newCodeReplacesTheOldestOfTheSameKey() {
        var other = sessions.issueCode(keys.issue(ANNA).key());
        var oldest = sessions.issueAdminCode();
        for (int i = 0; i < SignInCodes.MAX_PER_KEY; i++) {
            sessions.issueAdminCode();
        }

        assertRefused(oldest.text());
        assertThat(sessions.beginWithCode(other.text()).session().who()).isEqualTo(new Principal.User(ANNA));
    }

    @Test
    void tooManyWrongCodesAreRefusedForAMinute() {
        var code = sessions.issueAdminCode();
        for (int i = 0; i < SignInCodes.MAX_WRONG; i++) {
            assertRefused("wrong");
        }

        assertThatThrownBy(() -> sessions.beginWithCode(code.text()))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(RequestFailure.RateLimited.class));
        now = now.plus(Duration.ofMinutes(1));
        assertThat(sessions.beginWithCode(code.text()).session().who()).isEqualTo(new Principal.Admin());
    }

    private void assertRefused(String code) {
        assertThatThrownBy(() -> sessions.beginWithCode(code))
                .isInstanceOfSatisfying(
                        SandboxException.class,
                        e -> assertThat(e.failure()).isInstanceOf(Failure.NotAuthenticated.class));
    }
}
