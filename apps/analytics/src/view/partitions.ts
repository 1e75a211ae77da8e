import type { TimePartitionedTable } from '@vitascope/postgres'

/** Partitioned by the UTC day of the event, by the clock of the player. */
export const EVENTS: TimePartitionedTable = { table: 'event', days: 1 }
/**
 * Partitioned by the UTC day of the last event of a view, so that all parts of a view are in one
 * partition. A partition has four weeks, because a new view is searched in every partition.
 */
export const VIEWS: TimePartitionedTable = { table: 'view', days: 28, storage: 'fillfactor = 85' }
/** Partitioned by the UTC day of the start of a view. */
export const VIEW_SESSIONS: TimePartitionedTable = { table: 'view_session', days: 7 }
/** Partitioned by the UTC day of the event. */
export const SESSION_EVENTS: TimePartitionedTable = { table: 'session_event', days: 7 }
/** Partitioned by the UTC day of the playback. */
export const VIEWERS: TimePartitionedTable = { table: 'viewer', days: 7 }
