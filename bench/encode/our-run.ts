import { link, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FfmpegTools } from '@vitascope/media'
import { type Cost, timedRun } from './timed-run.ts'

/** Our encode as a program of its own; `killAt`: what share of the frames is made when its ffmpeg is killed. */
export async function ourEncode(tools: FfmpegTools, source: string, scratch: string, { killAt = 0 } = {}): Promise<Cost> {
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch)
  await link(source, join(scratch, 'source'))
  // With one's own ffmpeg, ffprobe is looked for beside it; without, the same one is found again.
  const path = tools.warning === undefined ? tools.ffmpeg : ''
  return timedRun(process.execPath, [programOf('our-encode.ts'), join(scratch, 'source'), scratch, String(killAt), path], scratch)
}

function programOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
