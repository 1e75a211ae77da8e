import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { readStandaloneConfig } from '../../src/config.ts'
import { createLogPrinter } from '../../src/log-printer.ts'
import { type Platform, startPlatform } from '../../src/platform.ts'
import { type Api, createApi } from './api.ts'

export const SYSTEM_KEY = 'system-key-of-the-tests-0001'

/** The whole house on free ports and a folder of its own, with clients for it. */
export interface TestPlatform extends Platform {
  /** Calls with the system key. */
  system: Api
  /** Calls with no key. */
  guest: Api
  withKey(key: string): Api
  /** Everything that the processes printed. */
  log(): string
  /** Starts the same data folder again, after `stop`. */
  restart(): Promise<TestPlatform>
  /** Stops it and removes its folder. */
  remove(): Promise<void>
}

/** Sources on this machine are allowed; everything else is as `npm start` has it. */
export async function startTestPlatform(env: Record<string, string> = {}, dataDir?: string): Promise<TestPlatform> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'vitascope-test-')))
  const printed: string[] = []
  const config = readStandaloneConfig({
    VITASCOPE_PORT: String(await freePort()),
    VITASCOPE_OPS_PORT: String(await freePort()),
    VITASCOPE_DATA_DIR: folder,
    VITASCOPE_SYSTEM_KEY: SYSTEM_KEY,
    VITASCOPE_SOURCE_ALLOW: '127.0.0.0/8',
    VITASCOPE_LIMITS: 'off',
    ...env,
  })
  const print = createLogPrinter({
    write: (text: string) => {
      printed.push(text)
      if (process.env['VITASCOPE_TEST_LOG']) process.stderr.write(text)
    },
  })
  const platform = await startPlatform(config, print).catch((error: Error) => {
    throw new Error(`${error.message}\n${printed.slice(-60).join('')}`, { cause: error })
  })
  const withKey = (key?: string) => createApi(`${platform.url}/v2`, key)
  return {
    ...platform,
    system: withKey(SYSTEM_KEY),
    guest: withKey(),
    withKey,
    log: () => printed.join(''),
    restart: () => startTestPlatform(env, folder),
    async remove() {
      await platform.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
