alter table sandboxes add column idle_limit_ms bigint;
