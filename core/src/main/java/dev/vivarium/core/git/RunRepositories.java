package dev.vivarium.core.git;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.RunId;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.RunRepository.Status;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Repositories of runs in the store. Thread-safe.
public final class RunRepositories {
    private final Db db;

    public RunRepositories(Db db) {
        this.db = db;
    }

    public Optional<RunRepository> find(RunId run) {
        return db.read(sql -> find(sql, run));
    }

    static Optional<RunRepository> find(Sql sql, RunId run) throws SQLException {
        return sql.first("select * from run_repositories where run_id = ?", RunRepositories::read, run.value());
    }

    /// Returns the repository of a run. Fails with `no-repository`.
    public RunRepository require(RunId run) {
        return find(run).orElseThrow(() -> new SandboxException(new GitFailure.NoRepository(run.value())));
    }

    /// Returns the repositories of the runs of a sandbox, newest first.
    List<RunRepository> ofSandbox(SandboxId sandbox) {
        return db.read(sql -> sql.list(
                "select * from run_repositories where sandbox_id = ? order by created_at desc, run_id desc limit 100",
                RunRepositories::read,
                sandbox.value()));
    }

    /// Reports whether a sandbox has work that the server will push.
    public boolean isNeeded(SandboxId sandbox) {
        return db.read(sql -> sql.number(
                        "select count(*) from run_repositories where sandbox_id = ? and on_success is not null"
                                + " and status in (?, ?)",
                        sandbox.value(),
                        Status.OPEN.text(),
                        Status.DELIVERING.text()))
                > 0;
    }

    void insert(RunRepository work, Instant now) {
        Repository repository = work.repository();
        db.write(sql -> sql.update(
                "insert into run_repositories (run_id, sandbox_id, user_id, url, base, branch, ticket, credential, depth,"
                        + " on_success, title, status, attempts, created_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
                work.run().value(),
                work.sandbox().value(),
                work.owner().value(),
                repository.url().toString(),
                work.base().map(BranchName::value).orElse(null),
                work.branch().value(),
                repository.ticket().orElse(null),
                repository.credentialName(),
                repository.depth(),
                repository.onSuccess().map(Repository.OnSuccess::text).orElse(null),
                work.title(),
                work.status().text(),
                now.toEpochMilli()));
    }

    /// Changes the status, unless it is another one than `from`. Reports whether it did.
    static boolean move(Sql sql, RunId run, Status from, Status to, Optional<Instant> next) throws SQLException {
        return sql.update(
                        "update run_repositories set status = ?, next_attempt_at = ? where run_id = ? and status = ?",
                        to.text(),
                        next.map(Instant::toEpochMilli).orElse(null),
                        run.value(),
                        from.text())
                > 0;
    }

    /// Returns the deliveries that are due.
    List<RunRepository> due(Instant now, int limit) {
        return db.read(sql -> sql.list(
                "select * from run_repositories where next_attempt_at <= ? order by next_attempt_at limit ?",
                RunRepositories::read,
                now.toEpochMilli(),
                limit));
    }

    /// Stores a failed attempt at a delivery, and returns the number of attempts.
    static int attempted(Sql sql, RunId run, Instant next, String error) throws SQLException {
        sql.update(
                "update run_repositories set attempts = attempts + 1, next_attempt_at = ?, error = ? where run_id = ?",
                next.toEpochMilli(),
                error,
                run.value());
        return (int) sql.number("select attempts from run_repositories where run_id = ?", run.value());
    }

    static void finish(Sql sql, RunId run, Status status, Optional<String> error) throws SQLException {
        sql.update(
                "update run_repositories set status = ?, next_attempt_at = null, error = ? where run_id = ?",
                status.text(),
                error.orElse(null),
                run.value());
    }

    static void pushed(Sql sql, RunId run, String commit) throws SQLException {
        sql.update("update run_repositories set commit_id = ? where run_id = ?", commit, run.value());
    }

    void pushed(RunId run, String commit) {
        db.write(sql -> {
            pushed(sql, run, commit);
            return commit;
        });
    }

    /// Stores the pull request of a branch.
    public void pulled(RunId run, RunRepository.PullLink pull) {
        db.write(sql -> sql.update(
                "update run_repositories set pull_number = ?, pull_url = ? where run_id = ?",
                pull.number(),
                pull.url(),
                run.value()));
    }

    private static RunRepository read(ResultSet row) throws SQLException {
        Optional<String> error = text(row, "error");
        return new RunRepository(
                new RunId(row.getString("run_id")),
                new SandboxId(row.getString("sandbox_id")),
                new UserId(row.getString("user_id")),
                repository(row),
                text(row, "base").map(BranchName::new),
                new BranchName(row.getString("branch")),
                row.getString("title"),
                TextEnum.of(Status.class, row.getString("status")),
                text(row, "commit_id"),
                pull(row),
                error);
    }

    private static Repository repository(ResultSet row) throws SQLException {
        return new Repository(
                RepositoryUrl.of(row.getString("url")),
                text(row, "base").map(BranchName::new),
                Optional.of(new BranchName(row.getString("branch"))),
                text(row, "ticket"),
                new Repository.Credential.Named(row.getString("credential")),
                row.getInt("depth"),
                text(row, "on_success").map(text -> TextEnum.of(Repository.OnSuccess.class, text)));
    }

    private static Optional<RunRepository.PullLink> pull(ResultSet row) throws SQLException {
        String url = row.getString("pull_url");
        return url == null
                ? Optional.empty()
                : Optional.of(new RunRepository.PullLink(row.getLong("pull_number"), url));
    }

    private static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }
}
