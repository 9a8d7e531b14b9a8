create table duty_leases (
  duty text primary key,
  holder text not null,
  fencing bigint not null,
  expires_at bigint not null
);
