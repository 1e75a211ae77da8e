import { fileURLToPath } from 'node:url'
import { migrate } from '@vitascope/postgres'
import { createLogger, type Logger } from '@vitascope/telemetry'
import { readMigrationConfig } from './config.ts'

export const SCHEMA = 'collaboration'

const FOLDER = fileURLToPath(new URL('../migrations', import.meta.url))

/** Brings the schema of the collaboration service up to date. */
export function migrateCollaboration(databaseUrl: string, log: Logger): Promise<void> {
  return migrate({ url: databaseUrl, schema: SCHEMA, folder: FOLDER, log })
}

if (import.meta.main) {
  await migrateCollaboration(readMigrationConfig(process.env).databaseUrl, createLogger({ service: 'collaboration-migrate' }))
}
