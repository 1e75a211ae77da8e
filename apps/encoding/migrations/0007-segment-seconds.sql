-- The length of a segment as its playlist says it; 0 for what is none. A playlist that grows is made from these rows.
alter table segment add column seconds double precision not null default 0;
-- How often the encode of a chunk has failed. A piece is given up after three attempts of its own: one lost worker costs each piece that it
-- held one attempt, and a long video of many pieces is not worn out by its length.
alter table chunk add column faults int not null default 0;
