import { join } from 'node:path'
import { migrateCommand } from '@vitascope/postgres'
import { readMigrateConfig } from './config.ts'

// Migrates the schema `encoding` and exits. Run it before the service starts, with a role that owns
// the schema.
const folder = join(import.meta.dirname, '../migrations')
await migrateCommand({ schema: 'encoding', folder, readUrl: () => readMigrateConfig(process.env).databaseUrl })
