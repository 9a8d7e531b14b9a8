create table idempotency_keys (
  principal text not null,
  key_hash text not null,
  target text not null,
  body_hash text,
  answer text,
  size bigint not null,
  created_at bigint not null,
  primary key (principal, key_hash)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);
