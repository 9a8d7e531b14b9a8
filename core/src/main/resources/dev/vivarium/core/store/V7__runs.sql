create table worker_tokens (
  hash text primary key,
  sandbox_id text not null,
  thread_id text not null,
  user_id text not null,
  task_id text not null,
  audience text not null,
  expires_at bigint not null
);

create index worker_tokens_by_sandbox on worker_tokens (sandbox_id);

create table sandbox_tasks (
  task_id text primary key,
  user_id text not null,
  title text not null,
  description text not null,
  type text,
  priority text,
  context text not null,
  constraints text not null,
  status text not null,
  message text,
  result text,
  created_at bigint not null,
  updated_at bigint not null
);

create index sandbox_tasks_by_user on sandbox_tasks (user_id, created_at);

create table sandbox_runs (
  run_id text primary key,
  sandbox_id text not null,
  task_id text not null,
  user_id text not null,
  thread_id text not null,
  runtime text not null,
  command text not null,
  model text,
  status text not null,
  reason text,
  budget_nanos bigint,
  cost_nanos bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  tool_calls bigint not null,
  session text,
  process text,
  verdict text,
  verdict_text text,
  wish text not null,
  wish_reason text,
  started_at bigint not null,
  ended_at bigint,
  last_heartbeat bigint
);

create index sandbox_runs_by_sandbox on sandbox_runs (sandbox_id, started_at);

create index sandbox_runs_by_task on sandbox_runs (task_id);

create index sandbox_runs_by_status on sandbox_runs (status);

create table sandbox_reviews (
  review_id text primary key,
  sandbox_id text not null,
  task_id text not null,
  reason text not null,
  description text not null,
  context text not null,
  options text not null,
  blocking integer not null,
  status text not null,
  decision text,
  comment text,
  answered_by text,
  created_at bigint not null,
  deadline bigint not null,
  answered_at bigint
);

create index sandbox_reviews_by_sandbox on sandbox_reviews (sandbox_id, created_at);

create index sandbox_reviews_by_status on sandbox_reviews (status, deadline);

create table sandbox_answers (
  sandbox_id text not null,
  idempotency_key text not null,
  request text not null,
  answer text not null,
  created_at bigint not null,
  primary key (sandbox_id, idempotency_key)
);
