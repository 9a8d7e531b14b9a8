create table sandbox_activity (
  sandbox_id text primary key,
  work_at bigint not null,
  input_at bigint not null
);

create table run_restarts (
  run_id text primary key,
  task_id text not null,
  sandbox_id text not null,
  reason_code text not null,
  verdict text not null,
  is_pending integer not null,
  snapshot_id text,
  next_run_id text,
  happened_at bigint not null
);

create index run_restarts_by_task on run_restarts (task_id, happened_at);

create index run_restarts_pending on run_restarts (happened_at) where is_pending = 1;

create index run_restarts_with_snapshot on run_restarts (happened_at) where snapshot_id is not null;

create table quarantines (
  sandbox_id text primary key,
  run_id text not null,
  reason text not null,
  kept_until bigint not null
);

alter table task_attempts add column time_used_ms bigint not null default 0;
