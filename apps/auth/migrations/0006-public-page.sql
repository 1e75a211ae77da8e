-- Whether everyone may open the page of the organisation with its public videos.
alter table organisation add column public_page boolean not null default false;
