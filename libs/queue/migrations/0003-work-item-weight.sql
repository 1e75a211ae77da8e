-- What an item takes of whoever does it, so that nobody is handed more than he has room for. In the unit of the service; 0: next to nothing.
alter table work_item add column weight int not null default 0;
