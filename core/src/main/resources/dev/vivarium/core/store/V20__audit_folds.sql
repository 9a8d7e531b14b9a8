alter table audit add column count bigint not null default 1;

alter table audit add column last_at bigint;

update audit set last_at = at;

create index audit_by_user on audit (user_id, seq);
