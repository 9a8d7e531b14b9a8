alter table sandbox_events add column task_id text not null default '';

create table event_cursors (
  reader text not null,
  sandbox_id text not null,
  seq bigint not null,
  primary key (reader, sandbox_id)
);
