create table snapshots (
  snapshot_id text primary key,
  thread_id text not null,
  sandbox_id text not null,
  name text not null,
  bytes bigint not null,
  disk_bytes bigint not null,
  created_at bigint not null
);

create index snapshots_by_thread on snapshots (thread_id, created_at);
