alter table sandbox_messages add column inject_mode text not null default 'immediate';

alter table sandbox_runs add column metrics text;

alter table sandbox_runs add column reason_code text;

create table sandbox_outbox (
  sandbox_id text not null,
  event_id text not null,
  event_type text not null,
  event_data text not null,
  source text not null,
  created_at bigint not null,
  primary key (sandbox_id, event_id)
);
