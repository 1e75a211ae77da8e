import { fileURLToPath } from 'node:url'
import { readDatabaseConfig } from '@vitascope/config'
import { migrateCommand } from '@vitascope/postgres'

// Migrates the schema of this service and exits. It runs before the service, with a role that owns
// the schema.
await migrateCommand({
  schema: 'encoding',
  folder: fileURLToPath(new URL('../migrations', import.meta.url)),
  readUrl: () => readDatabaseConfig(process.env, 'ENCODING').databaseUrl,
})
