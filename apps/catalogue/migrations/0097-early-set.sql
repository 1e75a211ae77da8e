-- What plays of a media while its first set is being made; a set as in `renditions`, without files of its own.
alter table media add column early jsonb;
