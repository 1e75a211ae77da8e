export { createLogger, type Logger } from './log.ts'
export { createMetrics, type Metrics, serveMetrics } from './metrics.ts'
