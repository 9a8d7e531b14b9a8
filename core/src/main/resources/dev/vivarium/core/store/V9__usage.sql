alter table sandboxes add column door_port integer not null default 0;
