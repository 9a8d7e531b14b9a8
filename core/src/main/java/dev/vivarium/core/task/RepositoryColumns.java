package dev.vivarium.core.task;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/// Repository of a task in the columns of `task_queue`. Stateless.
final class RepositoryColumns {
    private RepositoryColumns() {}

    static void write(Sql sql, TaskId task, Repository repository) throws SQLException {
        sql.update(
                "update task_queue set repository_url = ?, repository_base = ?, repository_branch = ?,"
                        + " repository_ticket = ?, repository_credential = ?, repository_depth = ?,"
                        + " repository_on_success = ? where task_id = ?",
                repository.url().toString(),
                repository.base().map(BranchName::value).orElse(null),
                repository.branch().map(BranchName::value).orElse(null),
                repository.ticket().orElse(null),
                repository.credentialName(),
                repository.depth(),
                repository.onSuccess().map(Repository.OnSuccess::text).orElse(null),
                task.value());
    }

    static Optional<Repository> read(ResultSet row) throws SQLException {
        String url = row.getString("repository_url");
        if (url == null) {
            return Optional.empty();
        }
        return Optional.of(new Repository(
                RepositoryUrl.of(url),
                text(row, "repository_base").map(BranchName::new),
                text(row, "repository_branch").map(BranchName::new),
                text(row, "repository_ticket"),
                new Repository.Credential.Named(row.getString("repository_credential")),
                row.getInt("repository_depth"),
                text(row, "repository_on_success").map(text -> TextEnum.of(Repository.OnSuccess.class, text))));
    }

    private static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }
}
