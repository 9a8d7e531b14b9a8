package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jwt.SignedJWT;
import dev.vivarium.core.Digests;
import dev.vivarium.core.access.WorkerGrant.Audience;
import dev.vivarium.core.access.WorkerGrant.Work;
import dev.vivarium.model.TaskId;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WorkerTokensTest extends TokensFixture {
    private static final TaskId TASK = TaskId.random(new Random(1));
    private static final Work WORK = new Work(BOX, THREAD.thread(), ANNA, TASK);

    private WorkerTokens workers;

    @BeforeEach
    void openWorkers() {
        workers = WorkerTokens.open(db, home, clock);
    }

    @Test
    void tokenIsAJwtForOneTaskThatIsValidForADay() throws Exception {
        String token = workers.issue(WORK, Audience.WORKER);

        var claims = SignedJWT.parse(token).getJWTClaimsSet();
        assertThat(claims.getStringClaim("sandbox_id")).isEqualTo(BOX.value());
        assertThat(claims.getStringClaim("task_id")).isEqualTo(TASK.value());
        assertThat(claims.getExpirationTime().toInstant()).isEqualTo(time.get().plus(Duration.ofHours(24)));
        assertThat(workers.verify(token, Audience.WORKER).work()).isEqualTo(WORK);
    }

    @Test
    void tokenExpiresAfterADay() {
        String token = workers.issue(WORK, Audience.WORKER);
        advance(Duration.ofHours(24).minusSeconds(1));
        workers.verify(token, Audience.WORKER);

        advance(Duration.ofSeconds(1));

        assertThat(workers.find(token)).isEmpty();
    }

    @Test
    void modelTokenIsValidForTheModelApiOnly() {
        String token = workers.issue(WORK, Audience.MODEL);

        workers.verify(token, Audience.MODEL);
        assertThatThrownBy(() -> workers.verify(token, Audience.WORKER)).hasMessageContaining("for the model API");
        assertThatThrownBy(() -> tokens.verify(token)).hasMessageContaining("not valid");
    }

    @Test
    void deletingASandboxRevokesOnlyItsWorkerTokens() {
        String token = workers.issue(WORK, Audience.WORKER);
        String other = workers.issue(new Work(OTHER, THREAD.thread(), ANNA, TASK), Audience.WORKER);

        workers.forget(BOX);

        assertThat(workers.find(token)).isEmpty();
        assertThat(workers.find(other)).isPresent();
        openWorkers();
        assertThat(workers.find(token)).isEmpty();
        assertThat(workers.find(other)).isPresent();
    }

    @Test
    void startRevokesTokensOfSandboxesThatEndedBefore() {
        String token = workers.issue(WORK, Audience.WORKER);
        db.write(sql -> sql.update("update sandboxes set ended_at = 1 where id = ?", BOX.value()));

        openWorkers();

        assertThat(workers.find(token)).isEmpty();
    }

    @Test
    void storeKeepsOnlyTheTokenHash() throws Exception {
        String token = workers.issue(WORK, Audience.WORKER);
        db.close();

        try (var files = Files.walk(home)) {
            for (var file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.ISO_8859_1))
                        .doesNotContain(token.substring(token.lastIndexOf('.') + 1));
            }
        }
    }

    @Test
    void insertingAHashIntoTheStoreForgesNoToken() {
        String token = workers.issue(WORK, Audience.WORKER);
        String forged = token.substring(0, token.length() - 4) + "AAAA";
        db.write(sql -> sql.update(
                "insert into worker_tokens (hash, sandbox_id, thread_id, user_id, task_id, audience, expires_at)"
                        + " select ?, sandbox_id, thread_id, user_id, task_id, audience, expires_at from worker_tokens",
                Digests.sha256(forged)));
        openWorkers();

        assertThat(workers.find(forged)).isEmpty();
        assertThat(workers.find(token)).isPresent();
    }
}
