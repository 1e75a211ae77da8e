-- One row before each write. The key is a UUID of version 7, so it holds the time and orders the log: every index ends with it, and serves a
-- filter together with a span of time and a place to go on from.
create table audit_entry (
  entry_id        uuid primary key,
  -- These three are empty for guests, who have no key.
  organisation_id bigint,
  user_id         bigint,
  key_start       text not null,
  action          text not null,
  object          text not null,
  request_id      text not null,
  address         text not null
);
create index audit_entry_organisation on audit_entry (organisation_id, entry_id);
create index audit_entry_user on audit_entry (user_id, entry_id);
create index audit_entry_action on audit_entry (action, entry_id);
create index audit_entry_object on audit_entry (object, entry_id);
create index audit_entry_organisation_action on audit_entry (organisation_id, action, entry_id);
create index audit_entry_organisation_object on audit_entry (organisation_id, object, entry_id);

-- How it ended: a row of its own, since entries are never changed. It may come late or, after a crash, never.
create table audit_outcome (
  entry_id uuid primary key,
  status   int not null,
  made_id  text not null default ''
);

-- Only the sweep of what is older than the operator keeps says this of itself, for its own transaction.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('vitascope.audit_sweep', true) = 'on' then
    return null;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_entry_append_only before update or delete or truncate on audit_entry
  for each statement execute function refuse_audit_change();
create trigger audit_outcome_append_only before update or delete or truncate on audit_outcome
  for each statement execute function refuse_audit_change();
revoke update, truncate on audit_entry, audit_outcome from current_user;
