import { execFile } from 'node:child_process'
import { copyFile, link, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFfmpeg } from '@vitascope/media'

/** Creates a small video with audio: moving test bars and a tone. */
export async function makeVideo(file: string, seconds: number): Promise<string> {
  const { ffmpeg } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
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

/**
 * Creates a small video of 25 frames/s without audio, whose picture can be copied: low bit rate, a
 * key frame every 2 s.
 */
export async function makeVideoToCopy(file: string, seconds: number): Promise<string> {
  const { ffmpeg } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  await promisify(execFile)(ffmpeg, [
    ...['-y', '-loglevel', 'error', '-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=25:duration=${seconds}`],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-x264-params', 'keyint=50:min-keyint=50:scenecut=0', file],
  ])
  return file
}

/** Creates a long tone without a picture. */
export async function makeSound(file: string, seconds: number): Promise<string> {
  const { ffmpeg } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:duration=${seconds}`]
  await promisify(execFile)(ffmpeg, ['-y', '-loglevel', 'error', ...tone, '-c:a', 'aac', '-b:a', '64k', file])
  return file
}

/**
 * Creates a fake ffmpeg that answers version queries correctly and runs a script instead of an
 * encode.
 */
export async function makeFakeFfmpeg(folder: string, instead: string): Promise<string> {
  const real = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  await rm(folder, { recursive: true, force: true })
  for (const name of ['bin', 'lib']) await mkdir(join(folder, name), { recursive: true })
  await symlink(real.ffprobe, join(folder, 'bin/ffprobe'))
  // A sandboxed script can only start programs of this folder.
  const started = join(folder, 'lib/ffmpeg')
  await link(real.ffmpeg, started).catch(() => copyFile(real.ffmpeg, started))
  const file = join(folder, 'bin/ffmpeg')
  await writeFile(file, `#!/bin/sh\ncase "$*" in *-version*|*-encoders*|*-filters*) exec ${started} "$@";; esac\n${instead}\n`, {
    mode: 0o755,
  })
  return file
}
