import type { TimePartitionedTable } from '@vitascope/postgres'

/** Partitioned by the UTC day on which an event happened, according to the player. */
export const EVENTS: TimePartitionedTable = { table: 'event', days: 1 }
/**
 * Partitioned by the UTC day of a view's last event, for all its parts, so that a view is in one
 * partition. A partition has four weeks, because an unknown view is searched in every partition.
 */
export const VIEWS: TimePartitionedTable = { table: 'view', days: 28, storage: 'fillfactor = 85' }
/** Partitioned by the UTC day of the playback. */
export const VIEWERS: TimePartitionedTable = { table: 'viewer', days: 7 }
