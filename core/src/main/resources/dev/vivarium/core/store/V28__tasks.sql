alter table sandbox_tasks add column reported_status text;

update sandbox_tasks set reported_status = status;

update sandbox_tasks set status = 'running' where status in ('in_progress', 'blocked');

create table task_queue (
  task_id text primary key,
  user_id text not null,
  agent_type text not null,
  runtime text,
  command text not null,
  model text,
  env text not null,
  memory_bytes bigint,
  cpus double precision,
  processes integer,
  disk_bytes bigint,
  egress text,
  image text,
  budget_nanos bigint,
  run_timeout_ms bigint not null,
  queue_timeout_ms bigint,
  max_retries integer not null,
  priority_rank integer not null,
  first_attempt integer not null,
  ready_at bigint,
  order_at bigint,
  next_attempt_at bigint,
  changes bigint not null
);

create index task_queue_by_order on task_queue (order_at) where order_at is not null;

create index task_queue_by_retry on task_queue (next_attempt_at) where next_attempt_at is not null;

create table task_dependencies (
  task_id text not null,
  depends_on text not null,
  primary key (task_id, depends_on)
);

create index task_dependencies_by_target on task_dependencies (depends_on);

create table task_attempts (
  task_id text not null,
  attempt integer not null,
  fencing bigint not null,
  run_id text,
  worker text,
  status text not null,
  started_at bigint not null,
  ended_at bigint,
  lease_until bigint,
  stop_code text,
  error_class text,
  error_code text,
  error_message text,
  primary key (task_id, attempt)
);

create unique index task_attempts_live on task_attempts (task_id) where ended_at is null;

create unique index task_attempts_by_run on task_attempts (run_id) where run_id is not null;
