alter table sandbox_runs add column guardian text;

alter table sandbox_runs add column wish_detail text;

alter table task_queue add column guardian text;

create table guardian_trajectories (
  sandbox_id text primary key,
  run_id text not null,
  task_id text not null,
  user_id text not null,
  policy text not null,
  seq bigint not null,
  state text not null,
  ladder text not null,
  pending text
);

create table guardian_costs (
  day text primary key,
  cost_nanos bigint not null
);

insert into event_cursors (reader, sandbox_id, seq)
  select 'guardian', sandbox_id, max(seq) from sandbox_events group by sandbox_id;
