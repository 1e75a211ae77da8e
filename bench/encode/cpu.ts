import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FfmpegTools } from '@vitascope/media'
import type { Figure } from '../figure.ts'
import { median, medianRatio } from '../ratio.ts'
import { readBaselines } from './baseline.ts'
import type { BenchRun } from './bench-run.ts'
import { makeSource } from './make-source.ts'
import { runEncodeProgram } from './our-run.ts'
import { type Cost, timedRun } from './timed-run.ts'

const goal = 1.05
const run = promisify(execFile)

/** Filters of the sources, 720p. There are two, because the ratio depends on the content. */
const sources = {
  film: 'mandelbrot=s=1280x720:r=30:end_scale=0.02:end_pts=1800,noise=alls=4:allf=t',
  noise: 'color=gray:s=1280x720:r=30,noise=alls=40:allf=t',
}

/**
 * Compares our encode, from probe to verified set, with the best single ffmpeg command for the same
 * renditions.
 */
export async function benchCpu({ pairs, tools, folder, report }: BenchRun): Promise<void> {
  console.log(`cpu: 60 s of 720p30, six renditions + HLS + images, ffmpeg ${tools.version}, ${pairs} interleaved pairs`)
  for (const [name, content] of Object.entries(sources)) await compare(name, content, { pairs, tools, folder, report })
}

async function compare(name: string, content: string, { pairs, tools, folder, report }: BenchRun): Promise<void> {
  const source = await makeSource(tools, { content, seconds: 60 }, join(folder, `${name}.mp4`))
  await runEncodeProgram(tools, source, join(folder, `${name}-ours`))
  const best = await bestBaseline(tools, source, join(folder, `${name}-bare`), join(folder, `${name}-ours`, 'set'))
  const encoderCosts: Cost[] = []
  const bare: Cost[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const steps = [
      async () => encoderCosts.push(await runEncodeProgram(tools, source, join(folder, `${name}-ours`))),
      async () => bare.push(await bareEncode(tools, best.args, join(folder, `${name}-bare`))),
    ]
    // The order alternates, so that neither side gains from a machine that warms up or slows down.
    if (pair % 2 === 1) steps.reverse()
    for (const step of steps) await step()
  }
  for (const figure of computeFigures(name, best.name, encoderCosts, bare)) report(figure)
}

function computeFigures(name: string, bareName: string, encoderCosts: readonly Cost[], bare: readonly Cost[]): Figure[] {
  const ratio = (pick: (cost: Cost) => number) => medianRatio(encoderCosts.map((cost, pair) => pick(cost) / pick(bare[pair] ?? cost)))
  const formatMedians = (pick: (cost: Cost) => number) =>
    `${median(encoderCosts.map(pick)).toFixed(2)} s, ffmpeg (${bareName}) ${median(bare.map(pick)).toFixed(2)} s`
  const [cpu, wall] = [(cost: Cost) => cost.cpuSeconds, (cost: Cost) => cost.wallSeconds]
  const source = `60 s of 720p (${name})`
  return [
    {
      ...{ row: `cpu-${name}`, title: `CPU time of an encode of ${source}, against one ffmpeg`, value: ratio(cpu), goal: { atMost: goal } },
      detail: formatMedians(cpu),
    },
    { row: `wall-${name}`, title: `time of an encode of ${source}, against one ffmpeg`, value: ratio(wall), detail: formatMedians(wall) },
  ]
}

/** Runs each baseline command once and returns the one with the least CPU time. */
async function bestBaseline(
  tools: FfmpegTools,
  source: string,
  folder: string,
  encoderSet: string,
): Promise<{ name: string; args: string[] }> {
  const candidates: { name: string; args: string[]; cost: Cost }[] = []
  for (const [name, args] of await readBaselines(source, tools)) {
    const cost = await bareEncode(tools, args, folder)
    // With separate scaling from the source, only the largest picture is identical.
    await checkSameFrames(tools, encoderSet, folder, name === 'split' ? ['h264_1200'] : renditions)
    console.log(`  bare ${name}: CPU ${cost.cpuSeconds.toFixed(2)} s, wall ${cost.wallSeconds.toFixed(2)} s`)
    candidates.push({ name, args, cost })
  }
  const best = candidates.reduce((a, b) => (b.cost.cpuSeconds < a.cost.cpuSeconds ? b : a))
  return best
}

async function bareEncode(tools: FfmpegTools, args: readonly string[], folder: string): Promise<Cost> {
  await rm(folder, { recursive: true, force: true })
  for (const folderName of [...renditions, 'audio_32', 'audio_64', 'audio_128', 'images'])
    await mkdir(join(folder, folderName), { recursive: true })
  return timedRun(tools.ffmpeg, ['-nostdin', '-hide_banner', '-loglevel', 'error', '-nostats', '-y', ...args], folder)
}

/** Number of frames before the second key frame. These frames are within the first chunk. */
const firstGroup = 60

const renditions = ['h264_100', 'h264_250', 'h264_360', 'h264_500', 'h264_800', 'h264_1200']

/**
 * Throws unless both sides make the same frames, in MP4 and in HLS. Otherwise the comparison would be
 * unfair. Compares the contents of the first frames and the number of all frames: our encoder starts
 * without history at each chunk, so that later frames differ.
 */
async function checkSameFrames(tools: FfmpegTools, encoderSet: string, bareFolder: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const files = [
      join(encoderSet, `${key}.mp4`),
      join(bareFolder, `${key}.mp4`),
      join(encoderSet, 'hls', key, 'index.m3u8'),
      join(bareFolder, key, 'index.m3u8'),
    ]
    const hashes = await Promise.all(files.map((file) => frameHash(tools, file)))
    if (new Set(hashes).size !== 1) throw new Error(`${key}: our frames and those of baseline.txt differ; update its encoder settings`)
  }
}

async function frameHash(tools: FfmpegTools, file: string): Promise<string> {
  const { stdout } = await run(tools.ffmpeg, ['-loglevel', 'error', '-i', file, '-map', '0:v', '-f', 'framemd5', '-'], {
    maxBuffer: 64 << 20,
  })
  const frames = stdout
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').at(-1))
  return `${frames.length} ${createHash('sha256').update(frames.slice(0, firstGroup).join()).digest('hex')}`
}
