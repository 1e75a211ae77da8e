create table contact_form (
  contact_form_id      bigint generated always as identity primary key,
  organisation_id      bigint not null references organisation,
  primary_text         text not null,
  secondary_text       text not null,
  reference            text not null,
  opt_in_message       text not null,
  button_text          text not null,
  capture_names        boolean not null,
  capture_company_name boolean not null,
  capture_opt_in       boolean not null,
  gated                boolean not null,
  created_by_user_id   text not null,
  -- Kept with each submission, so that their number is bounded without counting them.
  submissions          int not null default 0,
  create_time          timestamptz(3) not null default now()
);
create index contact_form_organisation on contact_form (organisation_id, contact_form_id);

-- What viewers sent. The video may be gone since.
create table contact_form_submission (
  submission_id   bigint generated always as identity primary key,
  contact_form_id bigint not null references contact_form on delete cascade,
  video_id        bigint,
  name            text not null,
  company_name    text not null,
  email           text not null,
  opt_in          boolean not null,
  create_time     timestamptz(3) not null default now()
);
create index contact_form_submission_form on contact_form_submission (contact_form_id, submission_id);
