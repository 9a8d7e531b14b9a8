create table git_credentials (
  user_id text not null,
  name text not null,
  host text not null,
  forge text not null,
  username text not null,
  token text not null,
  created_at bigint not null,
  primary key (user_id, name)
);

create table run_repositories (
  run_id text primary key,
  sandbox_id text not null,
  user_id text not null,
  url text not null,
  base text,
  branch text not null,
  ticket text,
  credential text not null,
  depth integer not null,
  on_success text,
  title text not null,
  status text not null,
  commit_id text,
  pull_number bigint,
  pull_url text,
  error text,
  attempts integer not null,
  next_attempt_at bigint,
  created_at bigint not null
);

create index run_repositories_by_sandbox on run_repositories (sandbox_id);

create index run_repositories_by_attempt on run_repositories (next_attempt_at) where next_attempt_at is not null;

alter table task_queue add column repository_url text;

alter table task_queue add column repository_base text;

alter table task_queue add column repository_branch text;

alter table task_queue add column repository_ticket text;

alter table task_queue add column repository_credential text;

alter table task_queue add column repository_depth integer;

alter table task_queue add column repository_on_success text;
