create table webhooks (
  webhook_id text primary key,
  user_id text,
  url text not null,
  event_types text not null,
  format text not null,
  secret text not null,
  created_at bigint not null
);

create index webhooks_by_user on webhooks (user_id);

create table webhook_deliveries (
  delivery_id text primary key,
  webhook_id text not null,
  log_id text not null,
  seq bigint not null,
  event_id text not null,
  event_type text not null,
  body text not null,
  status text not null,
  attempts integer not null,
  next_attempt_at bigint,
  response_status integer,
  error text,
  created_at bigint not null,
  ended_at bigint
);

create unique index webhook_deliveries_by_event on webhook_deliveries (webhook_id, log_id, seq);

create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where next_attempt_at is not null;

create index webhook_deliveries_by_time on webhook_deliveries (webhook_id, created_at, delivery_id);
