package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.StepCodec;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// An active run as the conductor sees it. Immutable.
///
/// @param shingles   of the title and the description of the task
/// @param repository address of the repository of the run, or of the context of its task
/// @param files      files that changed after their creation
record ActiveWork(
        UserId owner,
        RunId run,
        SandboxId sandbox,
        TaskId task,
        Instant startedAt,
        String title,
        Set<String> shingles,
        Optional<String> repository,
        Set<String> files) {
    /// The texts of tasks can be long, so that the query cuts them.
    private static final String QUERY = "select g.sandbox_id, g.run_id, g.task_id, g.user_id, g.state, r.started_at,"
            + " t.title, substr(t.description, 1, 4000) as description,"
            + " case when t.context like '%\"repository\"%' then t.context else '{}' end as context"
            + ", w.url from guardian_trajectories g join sandbox_runs r on r.run_id = g.run_id"
            + " left join run_repositories w on w.run_id = g.run_id"
            + " join sandbox_tasks t on t.task_id = g.task_id"
            + " where r.ended_at is null order by r.started_at, g.run_id";

    ActiveWork {
        shingles = Set.copyOf(shingles);
        files = Set.copyOf(files);
    }

    /// Returns the active runs of all users, the earliest first.
    static List<ActiveWork> all(Sql sql, StepCodec texts) throws SQLException {
        return sql.list(QUERY, row -> read(row, texts));
    }

    private static ActiveWork read(ResultSet row, StepCodec texts) throws SQLException {
        String title = row.getString("title");
        String context = row.getString("context");
        return new ActiveWork(
                new UserId(row.getString("user_id")),
                new RunId(row.getString("run_id")),
                new SandboxId(row.getString("sandbox_id")),
                new TaskId(row.getString("task_id")),
                Instant.ofEpochMilli(row.getLong("started_at")),
                title,
                Similarity.shingles(title + " " + row.getString("description")),
                Optional.ofNullable(row.getString("url")).or(() -> texts.repository(context)),
                modified(TrajectoryText.decode(row.getString("state"))));
    }

    private static Set<String> modified(Trajectory trajectory) {
        return trajectory.files.all().entrySet().stream()
                .filter(file -> file.getValue().isModified())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }
}
