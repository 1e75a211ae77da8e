-- The trace of the transaction that caused the event (W3C traceparent). Null without a trace.
alter table webhook_delivery add column traceparent text default nullif(current_setting('vitascope.traceparent', true), '');
