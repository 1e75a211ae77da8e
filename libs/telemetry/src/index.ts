export { createLogger, type Logger } from './log.ts'
export { createMetrics, type Metrics, observeConnections, observeStorage, serveMetrics } from './metrics.ts'
