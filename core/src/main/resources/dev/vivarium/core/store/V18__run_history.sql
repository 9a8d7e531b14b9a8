alter table sandbox_runs add column result text;

alter table sandbox_runs add column verdict_code text;

create index sandbox_runs_by_user on sandbox_runs (user_id, started_at);

create index sandbox_runs_by_thread on sandbox_runs (thread_id, started_at);
