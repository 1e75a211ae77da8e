import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import { imageGraph } from './image-frames.ts'
import { lockedRun } from './locked-run.ts'
import type { LookThrough } from './look-through.ts'
import { playlistInput } from './playlist-input.ts'
import { progressLines } from './progress.ts'
import { type ImageWork, imageWorkFolder, jpegOutput } from './segment-file.ts'
import { drawWaveform } from './waveform.ts'

const levelsFile = `${imageWorkFolder}/levels.txt`
const pictureFile = `${imageWorkFolder}/waveform.rgb`

/** Sound alone has no picture: its loudness is drawn, which tells one recording from another. */
export async function imagesOfSound(work: LookThrough, firstInput: number): Promise<ImageWork> {
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

/** The loudness of even stretches, a second at most, in dB of full scale. */
async function measureLevels({ plan, scratch, tools, limits, signal }: LookThrough): Promise<number[]> {
  const [track] = plan.audio?.tracks ?? []
  if (!track) return []
  const samples = Math.min(48_000, Math.max(1_024, Math.floor((plan.durationSeconds * 48_000) / 256)))
  const measure = 'astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=RMS_level'
  const print = `ametadata=mode=print:key=lavfi.astats.Overall.RMS_level:file=${levelsFile}`
  await lockedRun({
    tool: tools.ffmpeg,
    args: ffmpegArguments({
      inputs: [playlistInput(track.key)],
      graphs: [`[0:a:0]asetnsamples=n=${samples}:p=0,${measure},${print}[heard]`],
      outputs: [{ file: 'none', options: ['-map', '[heard]', '-f', 'null'] }],
    }),
    scratch,
    limits: { fileBytes: 64 * 2 ** 20, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  const text = await readFile(join(scratch, levelsFile), 'utf8')
  return [...text.matchAll(/RMS_level=(\S+)/g)].map(([, level]) => Number(level))
}
