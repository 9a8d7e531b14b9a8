create table sandbox_events (
  sandbox_id text not null,
  seq bigint not null,
  event_id text not null,
  event_type text not null,
  event_data text not null,
  source text not null,
  created_at bigint not null
);

create unique index sandbox_events_by_seq on sandbox_events (sandbox_id, seq);

create unique index sandbox_events_by_id on sandbox_events (event_id, sandbox_id);

create table sandbox_messages (
  message_id text primary key,
  sandbox_id text not null,
  position bigint not null,
  content text not null,
  message_type text not null,
  source text not null,
  created_at bigint not null,
  taken_at bigint
);

create unique index sandbox_messages_by_position on sandbox_messages (sandbox_id, position);
