// Starts one throw-away PostgreSQL for a whole Jest run; tests cut databases of their own from it (libs/testing).
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'

const prefix = 'vitascope-test-'

export default async function setup() {
  if (process.env.VITASCOPE_TEST_DATABASE_URL) return
  removeLeftovers()
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

/** Runs that were killed left their folders; their servers died with them. */
function removeLeftovers() {
  for (const name of readdirSync(tmpdir())) {
    // Platforms of tests have folders too, of a random name that may begin with digits.
    const pid = Number(/^vitascope-test-(\d+)-/.exec(name)?.[1] ?? 0)
    if (pid === 0 || lives(pid)) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // Another user's: left to that one.
    }
  }
}

function lives(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process answers EPERM.
    return error.code !== 'ESRCH'
  }
}
