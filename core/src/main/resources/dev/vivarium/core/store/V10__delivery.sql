alter table sandbox_messages add column delivered_at bigint;

update sandbox_messages set delivered_at = taken_at;
