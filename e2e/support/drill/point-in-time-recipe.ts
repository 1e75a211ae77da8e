import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openS3Storage } from '@vitascope/storage'
import { startS3 } from '@vitascope/testing'
import { runCommand } from '../command.ts'
import type { ArchivedPostgres } from './archived-postgres.ts'
import type { Recipe } from './recipe.ts'

/**
 * A database with an archive of its log, and a bucket with versioning. The database is restored to its newest archived
 * state, and the deletions in the bucket are undone. `startDatabase` starts the server in a folder. Requires `s3Path()`.
 */
export async function createPointInTimeRecipe(name: string, startDatabase: (folder: string) => Promise<ArchivedPostgres>): Promise<Recipe> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-drill-archive-'))
  const database = await startDatabase(join(folder, 'database'))
  const store = await startS3({ versioning: true })
  const [vault, secretFile] = [join(folder, 'vault'), join(folder, 's3-secret-key')]
  await writeFile(secretFile, store.secretAccessKey, { mode: 0o600 })
  const bucket = {
    VITASCOPE_S3_ENDPOINT: store.endpoint,
    VITASCOPE_S3_BUCKET: store.bucket,
    VITASCOPE_S3_ACCESS_KEY_ID: store.accessKeyId,
    VITASCOPE_S3_SECRET_KEY_FILE: secretFile,
  }
  const settings = { VITASCOPE_DATABASE_URL: database.url, ...bucket }
  let disaster = new Date()
  return {
    name,
    settings,
    async backUp(dataDir) {
      await cp(join(dataDir, 'secrets'), vault, { recursive: true })
      await database.backUp()
    },
    kill: () => database.kill(),
    async destroy(disasterTime) {
      disaster = disasterTime
      await database.destroy()
      const storage = openS3Storage(store)
      for await (const { name: object } of storage.list('')) await storage.delete(object)
    },
    async restore(dataDir) {
      await mkdir(dataDir, { recursive: true, mode: 0o700 })
      await cp(vault, join(dataDir, 'secrets'), { recursive: true })
      await database.restore()
      const since = new Date(disaster.getTime() - UNDELETE_MS).toISOString()
      const { code, stderr } = await runCommand('undelete', ['--since', since], bucket)
      if (code !== 0) throw new Error(`undelete exited with ${code}: ${stderr}`)
      return settings
    },
    async close() {
      await database.stop()
      await store.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Before the recovered state of the database: rows of that state name objects that were deleted later. */
const UNDELETE_MS = 10 * 60_000
