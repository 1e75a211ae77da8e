-- A mail with a link that signs a user in. Auth has the link, and creates its secret when the mail is sent.
alter table mail
  alter column job_id drop not null,
  alter column video_id drop not null,
  add column sign_in_link_id uuid unique,
  add constraint mail_has_one_subject check (num_nonnulls(job_id, sign_in_link_id) = 1 and (job_id is null) = (video_id is null)) not valid;
