import { join } from 'node:path'
import { migrateCommand } from '@vitascope/postgres'
import { readMigrationConfig } from './config.ts'

/** Brings the catalogue's schema up to date, and ends. */
const folder = join(import.meta.dirname, '../migrations')
await migrateCommand({ schema: 'catalogue', folder, readUrl: () => readMigrationConfig(process.env).databaseUrl })
