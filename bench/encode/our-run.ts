import { link, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FfmpegTools } from '@vitascope/media'
import { type Cost, timedRun } from './timed-run.ts'

export interface OurRun {
  /** Share of the frames after which ffmpeg is killed once. With 0, the default, it is not killed. */
  killAt?: number
  /** If false, a picture that could be copied is encoded. */
  copies?: boolean
}

/** Runs `our-encode.ts` as its own process and returns its cost. Deletes `scratch` before. */
export async function runEncodeProgram(
  tools: FfmpegTools,
  source: string,
  scratch: string,
  { killAt = 0, copies = true }: OurRun = {},
): Promise<Cost> {
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch)
  await link(source, join(scratch, 'source'))
  // For a custom ffmpeg, ffprobe is searched in the same folder. Otherwise the program finds the
  // same ffmpeg again.
  const path = tools.warning === undefined ? tools.ffmpeg : ''
  const args = [join(scratch, 'source'), scratch, String(killAt), path, copies ? 'copies' : '']
  return timedRun(process.execPath, [resolveProgram('our-encode.ts'), ...args], scratch)
}

function resolveProgram(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
