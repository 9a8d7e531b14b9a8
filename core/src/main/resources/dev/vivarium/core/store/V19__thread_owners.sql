create table user_threads (
  user_id text not null,
  thread_id text not null,
  created_at bigint not null,
  archived_at bigint,
  primary key (user_id, thread_id)
);

insert into user_threads (user_id, thread_id, created_at, archived_at)
select user_id, thread_id, created_at, archived_at from threads;

create table thread_members (
  owner_id text not null,
  thread_id text not null,
  user_id text not null,
  scopes text not null,
  invited_at bigint not null,
  primary key (owner_id, thread_id, user_id)
);

insert into thread_members (owner_id, thread_id, user_id, scopes, invited_at)
select t.user_id, m.thread_id, m.user_id, m.scopes, m.invited_at
from members m join threads t on t.thread_id = m.thread_id;

drop table members;

alter table thread_members rename to members;

alter table snapshots add column owner_id text not null default '';

update snapshots set owner_id = (select user_id from threads t where t.thread_id = snapshots.thread_id)
where thread_id in (select thread_id from threads);

drop index snapshots_by_thread;

create index snapshots_by_thread on snapshots (owner_id, thread_id, created_at);

alter table disk_origins add column owner_id text not null default '';

update disk_origins set owner_id = (select user_id from threads t where t.thread_id = disk_origins.thread_id)
where thread_id in (select thread_id from threads);

alter table audit add column owner_id text;

update audit set owner_id = (select user_id from threads t where t.thread_id = audit.thread_id);

drop index audit_by_thread;

create index audit_by_thread on audit (owner_id, thread_id, seq);

alter table sandboxes add column owned_thread text;

update sandboxes set owned_thread = thread_id;

drop index sandboxes_by_thread;

alter table sandboxes drop column thread_id;

alter table sandboxes rename column owned_thread to thread_id;

create index sandboxes_by_thread on sandboxes (user_id, thread_id);

drop table threads;

alter table user_threads rename to threads;

create index threads_by_name on threads (thread_id, user_id);
