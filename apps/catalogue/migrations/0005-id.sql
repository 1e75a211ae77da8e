create sequence next_id as bigint maxvalue 9007199254740991;

-- Random texts that were given out.
create table random_id (
  id text collate "C" primary key
);
