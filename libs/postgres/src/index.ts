export { connectOnce } from './connect-once.ts'
export { type Db, isUniqueViolation, openPostgres, type Query, type Transaction } from './db.ts'
export { type FailoverWatch, watchFailovers } from './failover.ts'
export { type Failover, type FailoverCause, findOpenFailover, listFailovers, type OpenFailover, settleFailover } from './failover-store.ts'
export { type Codec, idempotencyMismatch, jsonCodec, storedResponse, withIdempotency } from './idempotency.ts'
/** Snapshots of all schemas at one point in time, and their restore. */
export { countRows, type DumpedSchema, isEmptySchema, loadSchema, readRows } from './load-snapshot.ts'
export { type MigrateOptions, migrate } from './migrate.ts'
export { migrateCommand } from './migrate-command.ts'
export { createNotifications, type NotificationBatch, type Notifications, type NotificationsOptions } from './notifications.ts'
export { createOutbox, type Outbox, type OutboxHandlers, type OutboxMessage } from './outbox.ts'
export { type PoolState, type PostgresOptions, roleSettings } from './pool.ts'
export {
  type BatchOptions,
  commonRetainedTables,
  createRetention,
  deleteInBatches,
  type RetainedTable,
  type RetentionOptions,
} from './retention.ts'
export { type RowRewrite, rewriteRows } from './rewrite-rows.ts'
export { type DumpedSequence, type DumpedTable, type Snapshot, SnapshotError, takeSnapshot } from './snapshot.ts'
export {
  createPartitions,
  createPartitionsAhead,
  dropPartitions,
  isMissingPartitionError,
  type PartitionRetentionOptions,
  partitionName,
  partitionRetention,
  type TimePartitionedTable,
} from './time-partitions.ts'
