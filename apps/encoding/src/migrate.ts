import { join } from 'node:path'
import { migrate } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { readMigrateConfig } from './config.ts'

// Brings the schema `encoding` up to date and ends; run before the service starts, by a role that owns the schema.
const log = createLogger({ service: 'encoding-migrate' })
const { databaseUrl } = readMigrateConfig(process.env)
await migrate({ url: databaseUrl, schema: 'encoding', folder: join(import.meta.dirname, '../migrations'), log })
log.info('the schema is up to date')
