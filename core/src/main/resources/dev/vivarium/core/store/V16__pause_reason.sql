alter table sandboxes add column pause_cause text not null default '';

alter table sandboxes add column pause_detail text not null default '';
