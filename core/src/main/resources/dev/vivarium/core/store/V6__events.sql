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
