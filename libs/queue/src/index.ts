/** The fenced work queue on its own table (`migrations/`, applied by the service that uses it). */
export { createQueue } from './create-queue.ts'
/** Types of the queue. */
export type { Lease, LeasedItem, LeaseRequest, Queue, QueueDepth, QueueItem, WorkItem } from './queue.ts'
