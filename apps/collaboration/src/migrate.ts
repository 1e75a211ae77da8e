import { fileURLToPath } from 'node:url'
import { migrate, migrateCommand } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import { readMigrationConfig } from './config.ts'

export const SCHEMA = 'collaboration'

const FOLDER = fileURLToPath(new URL('../migrations', import.meta.url))

/** Applies the migrations of the collaboration schema. */
export function migrateCollaboration(databaseUrl: string, log: Logger): Promise<void> {
  return migrate({ url: databaseUrl, schema: SCHEMA, folder: FOLDER, log })
}

if (import.meta.main) await migrateCommand({ schema: SCHEMA, folder: FOLDER, readUrl: () => readMigrationConfig(process.env).databaseUrl })
