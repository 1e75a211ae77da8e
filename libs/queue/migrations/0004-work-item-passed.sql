-- Since when the first in line is left to others, by those who have no room for it: they do not pass it over for ever. Only adds a column.
alter table work_item add column passed_time timestamptz(3);
