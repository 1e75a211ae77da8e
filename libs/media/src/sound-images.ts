import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import { imageGraph } from './image-frames.ts'
import { playlistInput } from './playlist-input.ts'
import { progressLines } from './progress.ts'
import { runSandboxed } from './sandboxed-process.ts'
import type { FrameScan } from './scan-frames.ts'
import { type ImageWork, imageWorkFolder, jpegOutput } from './segment-file.ts'
import { outputFolder } from './set-layout.ts'
import { readOutput, withOutput } from './tool-output.ts'
import { drawWaveform } from './waveform.ts'

const levelsFile = `${outputFolder}/levels.txt`
const MAX_LEVELS_BYTES = 64 * 2 ** 20
const pictureFile = `${imageWorkFolder}/waveform.rgb`

/**
 * Draws a waveform as the picture of a source without one. Returns the command parts that create
 * the images from it.
 */
export async function buildWaveformImages(work: FrameScan, firstInput: number): Promise<ImageWork> {
  const { plan, scratch } = work
  const picture = drawWaveform(await measureLevels(work))
  await writeFile(join(scratch, pictureFile), picture.pixels, { mode: 0o644 })
  const format = ['-f', 'rawvideo', '-pixel_format', 'rgb24', '-video_size', `${picture.width}x${picture.height}`, '-framerate', '1']
  return {
    inputs: [{ file: pictureFile, options: [...format, '-protocol_whitelist', 'file'] }],
    graphs: [imageGraph(firstInput, 0, 0, plan.images, picture)],
    outputs: plan.images.map((image, index) => jpegOutput(image.key, `[i0_${index}]`)),
  }
}

/** Returns the loudness of equal intervals of at most a second, in dBFS. */
async function measureLevels({ plan, scratch, tools, limits, signal }: FrameScan): Promise<number[]> {
  const [track] = plan.audio?.tracks ?? []
  if (!track) return []
  const samples = Math.min(48_000, Math.max(1_024, Math.floor((plan.durationSeconds * 48_000) / 256)))
  const measure = 'astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=RMS_level'
  const print = `ametadata=mode=print:key=lavfi.astats.Overall.RMS_level:file=${levelsFile}`
  await runSandboxed({
    tool: tools.ffmpeg,
    args: ffmpegArguments({
      inputs: [playlistInput(track.key)],
      graphs: [`[0:a:0]asetnsamples=n=${samples}:p=0,${measure},${print}[measured]`],
      outputs: [{ file: 'none', options: ['-map', '[measured]', '-f', 'null'] }],
    }),
    scratch,
    writes: [outputFolder],
    limits: { fileBytes: MAX_LEVELS_BYTES, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  const text = String(await withOutput(scratch, levelsFile, (file) => readOutput(file, MAX_LEVELS_BYTES)))
  return [...text.matchAll(/RMS_level=(\S+)/g)].map(([, level]) => Number(level))
}
