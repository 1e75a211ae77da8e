-- Chapters in the order of their starts: [{"title": …, "startMs": …}].
alter table video add column chapters jsonb not null default '[]';
