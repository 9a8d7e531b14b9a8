package dev.vivarium.core.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.RunId;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.RunRepository.Status;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Contract of stored credentials and repositories on every database.
abstract class GitStoreContract {
    private static final UserId ANN = new UserId("ann");
    private static final UserId BOB = new UserId("bob");
    private static final String TOKEN = "secret-0123456789";
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");
    private static final InstantSource CLOCK = () -> NOW;
    private static final RunId RUN = new RunId("runaaaaaaaaaaaaaaaaaaaa");
    private static final SandboxId SANDBOX = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");

    @TempDir
    private Path keys;

    private Db db;
    private GitCredentials credentials;

    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        credentials = new GitCredentials(db, MasterKey.of(keys, new SecureRandom()), CLOCK);
    }

    @AfterEach
    void close() {
        db.close();
    }

    private static GitCredential credential(UserId owner, String host) {
        return new GitCredential(owner, "forge", host, GitCredential.Forge.GITEA, "bot", Instant.EPOCH);
    }

    private static Repository repository(Repository.Credential credential) {
        return new Repository(
                RepositoryUrl.of("https://git.example.com/team/shop"),
                Optional.empty(),
                Optional.empty(),
                Optional.of("T-1"),
                credential,
                Repository.DEPTH,
                Optional.of(Repository.OnSuccess.PUSH));
    }

    @Test
    void aCredentialIsStoredEncryptedAndReplaced() {
        credentials.save(credential(ANN, "Git.Example.com"), TOKEN);
        GitCredential stored = credentials.save(credential(ANN, "git.example.com"), TOKEN + "2");

        assertThat(credentials.list(ANN)).containsExactly(stored);
        assertThat(stored.createdAt()).isEqualTo(NOW);
        assertThat(credentials.secret(ANN, "forge").token()).isEqualTo(TOKEN + "2");
        assertThat(credentials.secret(ANN, "forge").toString()).doesNotContain(TOKEN);
        List<String> texts = db.read(sql -> sql.list("select token from git_credentials", row -> row.getString(1)));
        assertThat(texts).hasSize(1).noneMatch(text -> text.contains(TOKEN));
    }

    @Test
    void aCredentialBelongsToItsUserAndItsHost() {
        credentials.save(credential(ANN, "git.example.com"), TOKEN);

        assertThat(credentials.list(BOB)).isEmpty();
        assertThatThrownBy(() -> credentials.secret(BOB, "forge")).isInstanceOf(SandboxException.class);
        assertThatThrownBy(() -> credentials.remove(BOB, "forge")).isInstanceOf(SandboxException.class);
        assertThatThrownBy(() -> credentials.forRepository(
                        ANN, "forge", RepositoryUrl.of("https://git.example.com.evil.test/team/shop")))
                .hasMessageContaining("is for git.example.com");
        assertThatThrownBy(() ->
                        credentials.forRepository(ANN, "forge", RepositoryUrl.of("https://git.example.com:8443/a/b")))
                .isInstanceOf(SandboxException.class);
        credentials.remove(ANN, "forge");
        assertThat(credentials.list(ANN)).isEmpty();
    }

    @Test
    void anotherMasterKeyMakesCredentialsUnknown(@TempDir Path other) {
        credentials.save(credential(ANN, "git.example.com"), TOKEN);
        var others = new GitCredentials(db, MasterKey.of(other, new SecureRandom()), CLOCK);

        assertThatThrownBy(() -> others.secret(ANN, "forge")).hasMessageContaining("forge");
    }

    @Test
    void anInlineCredentialIsStoredForTheHostOfTheRepository() {
        var inline = new Repository.Credential.Inline(TOKEN, Optional.empty(), Optional.empty());
        Repository accepted = credentials.accepted(ANN, repository(inline));

        GitSecret secret = credentials.secret(ANN, accepted.credentialName());
        assertThat(secret.token()).isEqualTo(TOKEN);
        assertThat(secret.info().host()).isEqualTo("git.example.com");
        assertThat(inline.toString()).doesNotContain(TOKEN);
    }

    @Test
    void theRepositoryOfARunMovesFromOpenToDelivered() {
        var repositories = new RunRepositories(db);
        var work = new RunRepository(
                RUN,
                SANDBOX,
                ANN,
                repository(new Repository.Credential.Named("forge")),
                Optional.of(new BranchName("main")),
                new BranchName("feature/T-1"),
                "Do it",
                Status.OPEN,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        repositories.insert(work, NOW);
        assertThat(repositories.require(RUN).branch()).isEqualTo(work.branch());
        assertThat(repositories.ofSandbox(SANDBOX)).hasSize(1);
        assertThat(repositories.due(NOW, 10)).isEmpty();

        assertThat(move(Status.OPEN, Status.DELIVERING)).isTrue();
        assertThat(move(Status.OPEN, Status.CLOSED)).isFalse();
        assertThat(repositories.due(NOW, 10)).extracting(RunRepository::run).containsExactly(RUN);
        int attempts = db.write(sql -> RunRepositories.attempted(sql, RUN, NOW.plusSeconds(10), "down"));
        assertThat(attempts).isEqualTo(1);
        assertThat(repositories.due(NOW, 10)).isEmpty();
        assertThat(repositories.due(NOW.plusSeconds(10), 10)).hasSize(1);

        repositories.pushed(RUN, "ab12");
        repositories.pulled(RUN, new RunRepository.PullLink(7, "https://git.example.com/team/shop/pulls/7"));
        db.write(sql -> {
            RunRepositories.finish(sql, RUN, Status.DELIVERED, Optional.empty());
            return RUN;
        });
        RunRepository done = repositories.require(RUN);
        assertThat(done.status()).isEqualTo(Status.DELIVERED);
        assertThat(done.commit()).contains("ab12");
        assertThat(done.pull().orElseThrow().number()).isEqualTo(7);
        assertThat(repositories.due(NOW.plusSeconds(100), 10)).isEmpty();
    }

    private boolean move(Status from, Status to) {
        return db.write(sql -> RunRepositories.move(sql, RUN, from, to, Optional.of(NOW)));
    }
}
