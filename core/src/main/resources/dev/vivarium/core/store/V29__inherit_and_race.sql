alter table task_queue add column inherit_from text;

alter table task_queue add column inherit_files integer not null default 0;

alter table task_queue add column inherit_conversation integer not null default 0;

alter table task_queue add column race_attempts integer not null default 0;

alter table task_queue add column race_check text;

alter table task_queue add column undiagnosed integer not null default 0;

create index task_queue_by_inherited on task_queue (inherit_from) where inherit_from is not null;

create index task_queue_undiagnosed on task_queue (task_id) where undiagnosed = 1;

alter table task_attempts add column lane integer not null default 0;

drop index task_attempts_live;

create unique index task_attempts_live on task_attempts (task_id, lane) where ended_at is null;

create table task_disks (
  task_id text primary key,
  snapshot_id text
);

create table task_diagnoses (
  state text primary key,
  diagnostic_task_id text,
  reported_at bigint not null
);

create index task_diagnoses_by_task on task_diagnoses (diagnostic_task_id) where diagnostic_task_id is not null;
