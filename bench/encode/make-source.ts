import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { FfmpegTools } from '@vitascope/media'

export interface SourceRecipe {
  /** lavfi filter. */
  content: string
  seconds: number
  crf?: number
  /** Encoder options of the picture. Without them, a fast encode of good quality is used. */
  picture?: readonly string[]
}

/** Creates a source with audio. */
export async function makeSource(tools: FfmpegTools, recipe: SourceRecipe, file: string): Promise<string> {
  const { content, seconds, crf = 28 } = recipe
  const input = ['-f', 'lavfi', '-i', content, '-f', 'lavfi', '-i', 'anoisesrc=a=0.2:c=pink:r=48000', '-t', String(seconds)]
  const picture = recipe.picture ?? ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', String(crf), '-pix_fmt', 'yuv420p']
  const sound = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2']
  await promisify(execFile)(tools.ffmpeg, ['-nostdin', '-loglevel', 'error', '-y', ...input, ...picture, ...sound, file])
  return file
}
