alter table sandboxes add column egress text not null default '';
