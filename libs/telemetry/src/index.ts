export { createKeyFileReports, type KeyFileReports } from './key-file-reports.ts'
export { createLogger, type Logger } from './log.ts'
export { createLogLimit, type LogLimit } from './log-limit.ts'
export { createMetrics, type Metrics, observeConnections, observeStorage, serveMetrics } from './metrics.ts'
export { startTracing } from './start-tracing.ts'
export {
  type ActiveSpan,
  bindTrace,
  currentTraceparent,
  readTraceparent,
  type SpanAttributes,
  type SpanDescription,
  TRACEPARENT,
  traced,
  tracedFrom,
  tracedListener,
  untraced,
} from './trace.ts'
export { SAMPLERS, type TraceSettings } from './trace-settings.ts'
