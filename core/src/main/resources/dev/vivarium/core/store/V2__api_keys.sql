create table api_keys (
  key_id text primary key,
  user_id text not null,
  hash text not null unique,
  created_at bigint not null
);
