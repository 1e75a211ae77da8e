export { type Backoff, backoffMs } from './backoff.ts'
export { createFairQueue, type FairQueue, type FairQueueOptions } from './fair-queue.ts'
