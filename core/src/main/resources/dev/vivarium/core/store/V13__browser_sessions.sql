create table browser_sessions (
  hash text primary key,
  key_hash text not null,
  proof text not null,
  created_at bigint not null,
  expires_at bigint not null
);

create index browser_sessions_by_key on browser_sessions (key_hash, created_at);

create index browser_sessions_by_end on browser_sessions (expires_at);
