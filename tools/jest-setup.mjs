// Starts one throw-away PostgreSQL for a whole Jest run; tests cut databases of their own from it (libs/testing).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'

export default async function setup() {
  if (process.env.VITASCOPE_TEST_DATABASE_URL) return
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-test-'))
  const dir = join(folder, 'postgres')
  await initDatabase(dir, { durable: false })
  const server = await startPostgres({ dir, durable: false })
  process.env.VITASCOPE_TEST_DATABASE_URL = server.url
  globalThis.stopTestDatabase = async () => {
    await server.stop({ immediate: true })
    rmSync(folder, { recursive: true, force: true })
  }
}
