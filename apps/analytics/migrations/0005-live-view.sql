-- Views that go on now are nobody's record: after a crash they tell of themselves again within a minute. So they need no log of the database, and no
-- index but the key: there are only those of the last minutes, and an index on the time would cost every event of every view a new entry.
alter table live_view set unlogged;
alter table live_view set (fillfactor = 70);
drop index live_view_seen;
