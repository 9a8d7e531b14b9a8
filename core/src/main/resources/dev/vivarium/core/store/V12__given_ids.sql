drop index sandbox_events_by_id;

create unique index sandbox_events_by_id on sandbox_events (event_id, sandbox_id) where event_id <> '';
