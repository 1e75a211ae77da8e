import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFfmpeg } from '@vitascope/media'

const run = promisify(execFile)

/** Returns a picture of one colour. `ending` is its format. */
export function makePicture(ending: 'jpg' | 'png' | 'webp', colour: string, size = '1600x900'): Promise<Buffer> {
  return withFolder(async (folder, { ffmpeg }) => {
    const file = join(folder, `picture.${ending}`)
    await run(ffmpeg, ['-v', 'error', '-f', 'lavfi', '-i', `color=c=${colour}:size=${size}`, '-frames:v', '1', file])
    return readFile(file)
  })
}

/**
 * Returns the codec and size of a picture, such as `png,1600,900`, and the colour in its middle. Each colour channel
 * is reduced from 0…255 to 0…3, because the codecs are lossy.
 */
export function probePicture(bytes: Buffer): Promise<{ size: string; rgb: number[] }> {
  return withFolder(async (folder, { ffmpeg, ffprobe }) => {
    const file = join(folder, 'picture')
    await writeFile(file, bytes)
    const entries = ['-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0']
    const { stdout: size } = await run(ffprobe, ['-v', 'error', ...entries, file])
    const pixel = ['-vf', 'crop=2:2:iw/2:ih/2,format=rgb24', '-f', 'rawvideo', '-frames:v', '1', '-']
    const { stdout } = await run(ffmpeg, ['-v', 'error', '-i', file, ...pixel], { encoding: 'buffer' })
    return { size: size.trim(), rgb: [...stdout.subarray(0, 3)].map((value) => Math.round(value / 85)) }
  })
}

async function withFolder<T>(use: (folder: string, tools: Awaited<ReturnType<typeof findFfmpeg>>) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-picture-'))
  try {
    return await use(folder, await findFfmpeg())
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
