import { fileURLToPath } from 'node:url'
import { migrate, migrateCommand } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import { readDatabaseConfig } from './config.ts'

export const SCHEMA = 'analytics'

const FOLDER = fileURLToPath(new URL('../migrations', import.meta.url))

/** Applies the migrations of the analytics schema. */
export function migrateAnalytics(databaseUrl: string, log: Logger): Promise<void> {
  return migrate({ url: databaseUrl, schema: SCHEMA, folder: FOLDER, log })
}

if (import.meta.main) await migrateCommand({ schema: SCHEMA, folder: FOLDER, readUrl: () => readDatabaseConfig(process.env).databaseUrl })
