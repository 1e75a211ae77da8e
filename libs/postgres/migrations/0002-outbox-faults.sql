-- Number of rejections and faults. An unavailable receiver does not count, because it is no reason to give a message
-- up.
alter table outbox add column faults int not null default 0;
