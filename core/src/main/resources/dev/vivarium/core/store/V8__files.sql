create table sandbox_files (
  sandbox_id text not null,
  file_path text not null,
  seq bigint not null,
  until_seq bigint,
  file_type text not null,
  size_bytes bigint not null,
  sha256 text,
  modified_ns bigint not null,
  content text
);

create unique index sandbox_files_by_path on sandbox_files (sandbox_id, file_path, seq);
