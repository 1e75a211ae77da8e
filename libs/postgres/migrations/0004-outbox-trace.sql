-- The trace of the transaction that added the message (W3C traceparent). Null without a trace.
alter table outbox add column traceparent text default nullif(current_setting('vitascope.traceparent', true), '');
