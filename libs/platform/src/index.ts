/** Pauses between restarts. */
export { backoff } from './backoff.ts'
/** Settings of a platform on one machine. */
export { type PlatformConfig, readPlatformConfig } from './config.ts'
/** The data folder: lock and secrets. */
export { type DataFolder, openDataFolder } from './data-folder.ts'
/** The database: an embedded server or an external one, with a login for each service. */
export { type Database, startDatabase } from './database.ts'
/** Output of several processes. */
export { createLogPrinter, type LogPrinter } from './log-printer.ts'
/** Schemas of the services. */
export { inheritedEnvironment, migrateAll, STATEFUL } from './migrations.ts'
export { runningDatabaseUrl } from './running-database.ts'
export { StartError } from './start-error.ts'
