export { freePort } from '@vitascope/embedded-postgres'
export { type FreshDatabase, freshDatabase } from './fresh-database.ts'
export { testLog } from './test-log.ts'
export { type WaitOptions, waitFor } from './wait-for.ts'
