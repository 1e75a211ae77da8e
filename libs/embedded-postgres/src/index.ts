export { freePort } from './free-port.ts'
export { initDatabase } from './init-database.ts'
export { PostgresError, type PostgresProblem } from './postgres-error.ts'
export { type RunningPostgres, type StartOptions, startPostgres } from './start-postgres.ts'
