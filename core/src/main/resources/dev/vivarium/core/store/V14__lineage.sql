alter table snapshots add column parent_id text;

create table disk_origins (
  sandbox_id text primary key,
  thread_id text not null,
  snapshot_id text not null,
  forked_from text
);

create index disk_origins_by_fork on disk_origins (forked_from);
