export { type Backoff, backoffMs } from './backoff.ts'
export { type Batcher, type BatcherOptions, createBatcher } from './batcher.ts'
export { createFairQueue, type FairQueue, type FairQueueOptions } from './fair-queue.ts'
export { type CachedValue, createLoadingCache, type LoadingCache, type LoadingCacheOptions } from './loading-cache.ts'
