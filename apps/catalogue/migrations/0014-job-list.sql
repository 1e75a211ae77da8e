-- Lists of jobs, the latest first: all jobs of an organisation, and the few that failed among many.
create index job_organisation on job (organisation_id, job_id);
create index job_failed on job (job_id) where state = 'failed';
create index job_failed_organisation on job (organisation_id, job_id) where state = 'failed';
