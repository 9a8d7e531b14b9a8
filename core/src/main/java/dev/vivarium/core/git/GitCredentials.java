package dev.vivarium.core.git;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Stored credentials of users for git hosts. Tokens are encrypted with the master key. Thread-safe.
public final class GitCredentials {
    private static final int MOST = 1000;
    private static final int MAX_SHOWN = 64;

    private final Db db;
    private final MasterKey key;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    public GitCredentials(Db db, MasterKey key, InstantSource clock) {
        this.db = db;
        this.key = key;
        this.clock = clock;
    }

    /// Stores a credential, or replaces the one of the same name.
    public GitCredential save(GitCredential credential, String token) {
        GitCredential.requireToken(token);
        var lower = credential.host().toLowerCase(Locale.ROOT);
        var stored = new GitCredential(
                credential.owner(),
                credential.name(),
                lower,
                credential.forge(),
                credential.username(),
                Instant.ofEpochMilli(clock.millis()));
        String sealed = key.seal(token.getBytes(StandardCharsets.UTF_8), purpose(stored.owner(), stored.name()));
        db.write(sql -> {
            long count = sql.number(
                    "select count(*) from git_credentials where user_id = ?",
                    stored.owner().value());
            require(count < MOST, "name", "cannot be stored: a user has at most " + MOST + " git credentials");
            return sql.update(
                    "insert into git_credentials (user_id, name, host, forge, username, token, created_at)"
                            + " values (?, ?, ?, ?, ?, ?, ?) on conflict (user_id, name) do update set"
                            + " host = excluded.host, forge = excluded.forge, username = excluded.username,"
                            + " token = excluded.token, created_at = excluded.created_at",
                    stored.owner().value(),
                    stored.name(),
                    stored.host(),
                    stored.forge().text(),
                    stored.username(),
                    sealed,
                    stored.createdAt().toEpochMilli());
        });
        return stored;
    }

    public List<GitCredential> list(UserId owner) {
        return db.read(sql -> sql.list(
                "select * from git_credentials where user_id = ? order by name", GitCredentials::read, owner.value()));
    }

    /// Deletes a credential. Fails with `no-such-credential`.
    public void remove(UserId owner, String name) {
        int rows = db.write(
                sql -> sql.update("delete from git_credentials where user_id = ? and name = ?", owner.value(), name));
        if (rows == 0) {
            throw missing(name);
        }
    }

    /// Returns a credential with its token. Fails with `no-such-credential`.
    public GitSecret secret(UserId owner, String name) {
        return db.read(sql -> sql.first(
                        "select * from git_credentials where user_id = ? and name = ?",
                        row -> new Sealed(read(row), row.getString("token")),
                        owner.value(),
                        name))
                .flatMap(this::open)
                .orElseThrow(() -> missing(name));
    }

    private record Sealed(GitCredential credential, String token) {}

    /// Another master key makes a stored credential unusable. It then counts as missing.
    private Optional<GitSecret> open(Sealed sealed) {
        try {
            GitCredential info = sealed.credential;
            byte[] token = key.open(sealed.token, purpose(info.owner(), info.name()));
            return Optional.of(new GitSecret(info, new String(token, StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /// Returns the credential for a repository. Fails with `InvalidRequest` if it is for another host.
    public GitSecret forRepository(UserId owner, String name, RepositoryUrl url) {
        GitSecret secret = secret(owner, name);
        require(
                secret.info().host().equals(url.authority()),
                "repository.credential",
                "is for " + secret.info().host() + ", and the repository is on " + url.authority());
        return secret;
    }

    /// Returns the repository with a stored credential. Stores a credential that the request contains. Fails if the
    /// owner has no such credential, or if it cannot be used for the repository.
    public Repository accepted(UserId owner, Repository repository) {
        Repository stored = switch (repository.credential()) {
            case Repository.Credential.Named _ -> repository;
            case Repository.Credential.Inline inline -> repository.withCredential(store(owner, repository, inline));
        };
        GitSecret secret = forRepository(owner, stored.credentialName(), stored.url());
        boolean needsForge = stored.onSuccess()
                .filter(Repository.OnSuccess.PULL_REQUEST::equals)
                .isPresent();
        require(
                !needsForge || secret.info().forge() != GitCredential.Forge.NONE,
                "repository.on_success",
                "cannot be pull_request, because the credential has the forge none");
        return stored;
    }

    private String store(UserId owner, Repository repository, Repository.Credential.Inline inline) {
        String host = repository.url().authority();
        String name = "inline-" + HexFormat.of().formatHex(MasterKey.bytes(random, 8));
        var credential = new GitCredential(
                owner,
                name,
                host,
                inline.forge().orElseGet(() -> GitCredential.Forge.of(host)),
                inline.username().orElse(GitCredential.USERNAME),
                clock.instant());
        return save(credential, inline.token()).name();
    }

    private static SandboxException missing(String name) {
        return new SandboxException(new GitFailure.NoSuchCredential(
                name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN) + "…"));
    }

    private static String purpose(UserId owner, String name) {
        return "git credential " + name + " of " + owner.value();
    }

    private static GitCredential read(ResultSet row) throws SQLException {
        return new GitCredential(
                new UserId(row.getString("user_id")),
                row.getString("name"),
                row.getString("host"),
                TextEnum.of(GitCredential.Forge.class, row.getString("forge")),
                row.getString("username"),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }
}
