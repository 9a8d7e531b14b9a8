alter table sandboxes add column on_idle text not null default 'end';

alter table sandboxes add column files_count bigint;
