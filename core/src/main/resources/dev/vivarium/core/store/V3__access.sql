alter table threads add column archived_at bigint;

create table signing_keys (
  sandbox_id text primary key,
  epoch integer not null,
  sealed text not null,
  created_at bigint not null
);

create table members (
  thread_id text not null,
  user_id text not null,
  scopes text not null,
  invited_at bigint not null,
  primary key (thread_id, user_id)
);

create table revocations (
  sandbox_id text not null,
  jti text not null,
  kind text not null,
  effective_at bigint not null,
  expires_at bigint not null,
  primary key (sandbox_id, jti)
);

create table opaque_tokens (
  hash text primary key,
  claims text not null,
  sandbox_id text not null,
  expires_at bigint not null
);

create index opaque_tokens_by_sandbox on opaque_tokens (sandbox_id);

create table audit (
  seq bigint primary key,
  at bigint not null,
  kind text not null,
  outcome integer not null,
  route text not null,
  user_id text,
  sandbox_id text,
  thread_id text,
  jti text,
  scopes text,
  detail text
);

create index audit_by_thread on audit (thread_id, seq);

create index audit_by_sandbox on audit (sandbox_id, seq);
