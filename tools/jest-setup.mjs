// Starts one temporary PostgreSQL for a Jest run. Tests create their own databases in it
// (libs/testing).
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'

const prefix = 'vitascope-test-'

export default async function setup() {
  if (process.env.VITASCOPE_TEST_DATABASE_URL || process.env.VITASCOPE_UNIT_TESTS) return
  removeAbandonedFolders()
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  const dir = join(folder, 'postgres')
  await initDatabase(dir, { durable: false })
  const server = await startPostgres({ dir, durable: false })
  process.env.VITASCOPE_TEST_DATABASE_URL = server.url
  globalThis.stopTestDatabase = async () => {
    await server.stop({ immediate: true })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Removes the folders of killed runs. Their servers have ended with them. */
function removeAbandonedFolders() {
  for (const name of readdirSync(tmpdir())) {
    // Test platforms have folders too, with a random name that may start with digits.
    const pid = Number(/^vitascope-test-(\d+)-/.exec(name)?.[1] ?? 0)
    if (pid === 0 || isRunning(pid)) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // Belongs to another user, so it is kept.
    }
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM means that the process belongs to another user.
    return error.code !== 'ESRCH'
  }
}
