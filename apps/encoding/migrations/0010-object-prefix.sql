-- Objects may outlive the row of their job: a failover to a standby that lacks the last transactions leaves objects of which there are no rows.
alter table object_prefix drop constraint object_prefix_job_id_fkey;
