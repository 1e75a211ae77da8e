import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFfmpeg } from '@vitascope/media'
import type { TestEnvironment } from './service-under-test.ts'

/** Returns the hash of each frame and audio block of all files of a set. */
export async function hashSetFrames(
  environment: TestEnvironment,
  { prefix, renditions }: { prefix: string; renditions: readonly { path: string }[] },
): Promise<string[]> {
  const { ffmpeg } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  return Promise.all(
    renditions.map(async ({ path }) => {
      const file = join(environment.folder, 'storage', prefix, path)
      const { stdout } = await promisify(execFile)(ffmpeg, ['-loglevel', 'error', '-i', file, '-map', '0', '-f', 'framemd5', '-'], {
        maxBuffer: 64 << 20,
      })
      return stdout
    }),
  )
}
