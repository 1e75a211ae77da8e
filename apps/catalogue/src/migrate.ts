import { join } from 'node:path'
import { migrateCommand } from '@vitascope/postgres'
import { readMigrationConfig } from './config.ts'

/** Applies the catalogue's database migrations, then exits. */
const folder = join(import.meta.dirname, '../migrations')
await migrateCommand({ schema: 'catalogue', folder, readUrl: () => readMigrationConfig(process.env).databaseUrl })
