/** The fenced work queue on its own table (`migrations/`, applied by the service that keeps one). */
export { createQueue } from './create-queue.ts'
/** What it offers. */
export type { Ask, FoundItem, Lease, LeasedItem, Queue, QueueDepth, WorkItem } from './queue.ts'
