/** Shutdown of HTTP servers. */
export { drainServer } from './drain-server.ts'
/** Periodic tasks. */
export { every, everyAfterDelay } from './every.ts'
/** Bounds and minimum rates of long transfers. */
export { downloadProgress, uploadProgress } from './http-transfers.ts'
export { type RunningService, readProcessSettings, runProcess } from './run-process.ts'
export { type CutReason, createTransferLimiter, type Transfer, type TransferBounds, type TransferLimiter } from './transfer-limiter.ts'
