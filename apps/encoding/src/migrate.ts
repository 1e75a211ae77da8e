import { join } from 'node:path'
import { migrateCommand } from '@vitascope/postgres'
import { readMigrateConfig } from './config.ts'

// Brings the schema `encoding` up to date and ends; run before the service starts, by a role that owns the schema.
const folder = join(import.meta.dirname, '../migrations')
await migrateCommand({ schema: 'encoding', folder, readUrl: () => readMigrateConfig(process.env).databaseUrl })
