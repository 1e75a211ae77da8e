-- Answers that were a refusal or a fault: absence of the receiver is no reason to give a message up.
alter table outbox add column faults int not null default 0;
