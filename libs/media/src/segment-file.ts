import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentNames } from './encode-command.ts'
import type { FfmpegInput, FfmpegOutput } from './ffmpeg-arguments.ts'
import type { Segment } from './hls-playlist.ts'
import type { FrameSize } from './ladder.ts'
import type { PlannedRendition } from './plan.ts'
import { outputFile, setFolder, setLayout } from './set-layout.ts'

/** Part of the ffmpeg command that creates the images. */
export interface ImageWork {
  inputs: FfmpegInput[]
  graphs: string[]
  outputs: FfmpegOutput[]
}

/** Subfolder of the scratch folder for the inputs of images. No tool writes to it. */
export const imageWorkFolder = 'image-frames'

/**
 * Joins a few segments of a track in order, so that a run does not need to read the complete track.
 * Returns the file name in the scratch folder.
 */
export async function joinSegments(
  scratch: string,
  key: string,
  segments: readonly Pick<Segment, 'name'>[],
  name: string,
): Promise<string> {
  const folder = join(scratch, setFolder, setLayout.hlsFolder, key)
  const parts = [segmentNames.init, ...segments.map((segment) => segment.name)].map((part) => readFile(join(folder, part)))
  const file = `${imageWorkFolder}/${name}.mp4`
  await writeFile(join(scratch, file), Buffer.concat(await Promise.all(parts)), { mode: 0o644 })
  return file
}

/**
 * Returns whether ffmpeg decodes only the planned key frames if it skips all other frames. It does
 * so for H.264. A copied picture may have additional key frames. Decoders of other codecs may
 * decode all frames.
 */
export function canDecodeKeyFramesAlone({ video }: PlannedRendition): boolean {
  return video !== undefined && (video.codec ?? 'h264') === 'h264' && !video.copied
}

export function segmentInput(file: string, options: readonly string[] = []): FfmpegInput {
  return { file, options: [...options, '-threads', '1', '-f', 'mov', '-format_whitelist', 'mov', '-protocol_whitelist', 'file'] }
}

export function toJpegSize({ width, height }: FrameSize): string {
  return `scale=${width}:${height}:flags=bicubic+accurate_rnd+bitexact:out_range=pc,format=yuvj420p`
}

export function jpegOutput(key: string, label: string, quality = 3): FfmpegOutput {
  const options = [
    ['-map', label],
    ['-c:v', 'mjpeg'],
    ['-threads', '1'],
    ['-q:v', String(quality)],
    ['-frames:v', '1'],
    ['-flags', '+bitexact'],
    ['-f', 'image2'],
    ['-update', '1'],
  ]
  return { file: outputFile(setLayout.image(key)), options: options.flat() }
}
