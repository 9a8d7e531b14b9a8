alter table sandbox_reviews add column on_timeout text not null default 'reject';

alter table sandbox_reviews add column remind_at bigint;

alter table sandbox_reviews add column escalated_at bigint;

alter table sandbox_reviews add column run_stopped integer not null default 0;

create table alerts (
  alert_number bigint primary key,
  user_id text not null,
  at bigint not null,
  type text not null,
  severity text not null,
  title text not null,
  detail text not null,
  sandbox_id text,
  run_id text,
  task_id text,
  log_id text not null,
  seq bigint not null,
  acknowledged_by text,
  acknowledged_at bigint
);

create unique index alerts_by_event on alerts (log_id, seq);

create index alerts_by_user on alerts (user_id, alert_number);

create table baselines (
  scope text not null,
  metric text not null,
  samples bigint not null,
  mean double precision not null,
  variance double precision not null,
  recent double precision not null,
  alerted_at bigint not null,
  updated_at bigint not null,
  primary key (scope, metric)
);

create index sandbox_runs_by_end on sandbox_runs (ended_at) where ended_at is not null;
