create table store_identity (
  store_id text not null
);
