alter table api_keys add column label text;

alter table api_keys add column last_used_at bigint;

alter table api_keys add column expires_at bigint;
