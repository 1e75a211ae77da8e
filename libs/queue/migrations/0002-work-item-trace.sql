-- The trace of the first item of the key (W3C traceparent). Null without a trace.
alter table work_item add column traceparent text default nullif(current_setting('vitascope.traceparent', true), '');
