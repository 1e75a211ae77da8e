-- Where very many videos of an organisation match, the newest are found.
create index video_search_newest on video_search (organisation_id, create_time desc, video_id desc);
