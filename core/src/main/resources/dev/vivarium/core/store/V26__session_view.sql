create view sandbox_sessions as select * from sandboxes;
