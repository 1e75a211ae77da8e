-- A foreign key is looked up once for each of 20,000 lines, which takes as long as storing them. Lines are only written by who has made or
-- locked their caption in the same transaction, and go with it.
alter table caption_line drop constraint caption_line_caption_id_fkey;
create function caption_lines_out() returns trigger language plpgsql set search_path from current as $$
begin
  delete from caption_line where caption_id in (select caption_id from old_rows);
  return null;
end $$;
create trigger caption_lines_out after delete on caption referencing old table as old_rows
  for each statement execute function caption_lines_out();
