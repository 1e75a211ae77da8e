-- Number of rejections and faults. An unavailable receiver does not count, because it is not a reason to give a message
-- up.
alter table outbox add column faults int not null default 0;
