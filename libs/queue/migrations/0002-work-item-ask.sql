-- The ask that an item was leased to: asked again by the same name, it is answered again.
alter table work_item add column ask text;
create unique index work_item_ask on work_item (holder, ask) where state = 'leased' and ask is not null;
