import { execFile } from 'node:child_process'
import { copyFile, link, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFfmpeg } from '@vitascope/media'

/** Makes a small video with sound: moving test bars and a tone. */
export async function makeVideo(file: string, seconds: number): Promise<string> {
  const { ffmpeg } = await findFfmpeg()
  const input = (source: string) => ['-f', 'lavfi', '-i', source]
  await promisify(execFile)(ffmpeg, [
    '-y',
    '-loglevel',
    'error',
    ...input(`testsrc2=size=320x180:rate=25:duration=${seconds}`),
    ...input(`sine=frequency=440:duration=${seconds}`),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-shortest', file],
  ])
  return file
}

/** Makes a long tone; of no picture. */
export async function makeSound(file: string, seconds: number): Promise<string> {
  const { ffmpeg } = await findFfmpeg()
  const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:duration=${seconds}`]
  await promisify(execFile)(ffmpeg, ['-y', '-loglevel', 'error', ...tone, '-c:a', 'aac', '-b:a', '64k', file])
  return file
}

/** An ffmpeg that answers what it is asked about itself, and does something else in place of any work. */
export async function makeFakeFfmpeg(folder: string, instead: string): Promise<string> {
  const real = await findFfmpeg()
  await rm(folder, { recursive: true, force: true })
  for (const name of ['bin', 'lib']) await mkdir(join(folder, name), { recursive: true })
  await symlink(real.ffprobe, join(folder, 'bin/ffprobe'))
  // Locked up, a script may start what lies there.
  const started = join(folder, 'lib/ffmpeg')
  await link(real.ffmpeg, started).catch(() => copyFile(real.ffmpeg, started))
  const file = join(folder, 'bin/ffmpeg')
  await writeFile(file, `#!/bin/sh\ncase "$*" in *-version*|*-encoders*|*-filters*) exec ${started} "$@";; esac\n${instead}\n`, {
    mode: 0o755,
  })
  return file
}
