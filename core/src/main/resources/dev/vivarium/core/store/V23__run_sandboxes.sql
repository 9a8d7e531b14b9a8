alter table sandbox_runs add column created_sandbox integer not null default 0;
