create table threads (
  thread_id text primary key,
  user_id text not null,
  created_at bigint not null
);

create table sandboxes (
  id text primary key,
  thread_id text references threads (thread_id),
  user_id text,
  status text not null,
  image text not null,
  secret text not null,
  memory_bytes bigint not null,
  cpus double precision not null,
  processes integer not null,
  disk_bytes bigint not null,
  env text not null,
  idle_timeout_ms bigint not null,
  created_at bigint not null,
  last_activity bigint not null,
  ends_at bigint not null,
  end_cause text,
  end_detail text,
  ended_at bigint
);

create index sandboxes_by_thread on sandboxes (thread_id);

create index sandboxes_alive on sandboxes (status) where ended_at is null;

create index sandboxes_ended on sandboxes (ended_at) where ended_at is not null;
