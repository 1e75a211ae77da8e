import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { createLogPrinter, readPlatformConfig } from '@vitascope/platform'
import { type Platform, startPlatform } from '../../apps/standalone/src/platform.ts'
import { type Api, createApi } from './api.ts'

export const SYSTEM_KEY = 'system-key-of-the-tests-0001'

/** The whole platform on free ports and in its own folder, with clients. */
export interface TestPlatform extends Platform {
  /** Client with the system key. */
  system: Api
  /** Client without a key. */
  guest: Api
  withKey(key: string): Api
  /** Returns the output of all processes. */
  log(): string
  /** Starts the platform on the same data folder again, after `stop`. */
  restart(): Promise<TestPlatform>
  /** Stops the platform and removes its folder. */
  remove(): Promise<void>
}

/** Starts the platform like `npm start`, but allows sources on this machine. */
export async function startTestPlatform(env: Record<string, string> = {}, dataDir?: string): Promise<TestPlatform> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'vitascope-test-')))
  const printed: string[] = []
  const config = readPlatformConfig({
    VITASCOPE_PORT: String(await freePort()),
    VITASCOPE_OPS_PORT: String(await freePort()),
    VITASCOPE_DATA_DIR: folder,
    VITASCOPE_SYSTEM_KEY: SYSTEM_KEY,
    VITASCOPE_SOURCE_ALLOW: '127.0.0.0/8',
    VITASCOPE_LIMITS: 'off',
    // For test runs with another ffmpeg build.
    ...(process.env['VITASCOPE_FFMPEG'] && { VITASCOPE_FFMPEG: process.env['VITASCOPE_FFMPEG'] }),
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
