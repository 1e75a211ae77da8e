import { execFile } from 'node:child_process'
import { chmod, copyFile, link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  type ChunkEncode,
  chunkIndexes,
  type EncodePlan,
  encodeChunk,
  type FfmpegTools,
  findFfmpeg,
  packageRenditions,
  planEncode,
  probeSource,
  type SetFile,
  type SourceProbe,
  setFolder,
  verifySet,
} from '../src/index.ts'

const run = promisify(execFile)

export interface MediaFixture {
  folder: string
  tools: FfmpegTools
  /** Runs ffmpeg with lavfi sources and options in one line. Returns the file. */
  make(name: string, line: string): Promise<string>
  ffprobe(file: string, ...args: string[]): Promise<string>
  ffmpeg(...args: string[]): Promise<{ stdout: string; stderr: string }>
  /** Returns the path of a new scratch folder. */
  scratch(name: string): string
  encode(source: string, keys?: readonly string[]): Promise<EncodeResult>
  /**
   * Creates a bash script that replaces ffmpeg and ffprobe. REAL in it is the real ffmpeg, as a
   * link that the script may execute.
   */
  fake(name: string, body: string): Promise<FfmpegTools>
  close(): Promise<void>
}

export interface EncodeResult {
  probe: SourceProbe
  plan: EncodePlan
  files: SetFile[]
  set: string
}

/** Creates a folder that the sandbox user can access, and finds ffmpeg as the product does. */
export async function openMediaFixture(): Promise<MediaFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-media-'))
  await chmod(folder, 0o755)
  // The variable selects the build that a suite tests.
  const tools = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  let scratches = 0
  const scratch = (name: string) => join(folder, `scratch-${name}-${scratches++}`)
  const fixture: MediaFixture = {
    folder,
    tools,
    scratch,
    async make(name, line) {
      const file = join(folder, name)
      await run(tools.ffmpeg, ['-hide_banner', '-loglevel', 'error', '-y', ...line.split(/\s+/).filter((word) => word !== ''), file])
      return file
    },
    ffprobe: async (file, ...args) => (await run(tools.ffprobe, ['-v', 'error', ...args, file], { maxBuffer: 64 << 20 })).stdout,
    ffmpeg: (...args) => run(tools.ffmpeg, ['-hide_banner', '-nostdin', '-loglevel', 'error', ...args], { maxBuffer: 64 << 20 }),
    async encode(source, keys) {
      const work = { source, scratch: scratch('encode'), tools }
      const probe = await probeSource(work)
      const plan = planEncode({ probe, tools, ...(keys ? { keys } : {}) })
      await encodeAll({ ...work, plan })
      await packageRenditions({ ...work, plan })
      return { probe, plan, files: await verifySet({ ...work, plan }), set: join(work.scratch, setFolder) }
    },
    async fake(name, body) {
      const fakeFolder = join(folder, `fake-${name}`)
      for (const one of ['bin', 'lib']) await mkdir(join(fakeFolder, one), { recursive: true })
      const real = join(fakeFolder, 'lib/ffmpeg')
      if (body.includes('REAL')) await link(tools.ffmpeg, real).catch(() => copyFile(tools.ffmpeg, real))
      const path = join(fakeFolder, 'bin/ffmpeg')
      await writeFile(path, `#!/bin/bash\n${body.replaceAll('REAL', real)}\n`, { mode: 0o755 })
      return { ...tools, ffmpeg: path, ffprobe: path }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
  return fixture
}

/** Encodes all chunks in sequence. */
export async function encodeAll(work: Omit<ChunkEncode, 'chunkIndex'>): Promise<void> {
  for (const chunkIndex of chunkIndexes(work.plan)) await encodeChunk({ ...work, chunkIndex })
}

export function sound(seconds: number): string {
  return `-f lavfi -i sine=f=440:r=44100:d=${seconds}`
}

export function picture(size: string, rate: string | number, seconds: number): string {
  return `-f lavfi -i testsrc=s=${size}:r=${rate}:d=${seconds}`
}

export const quick = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac'
