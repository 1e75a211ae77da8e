import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  encodeChunk,
  type FfmpegTools,
  type FrameSize,
  packageRenditions,
  planEncode,
  probeSource,
  setFolder,
  setLayout,
} from '@vitascope/media'
import { singleValue } from '../figure.ts'
import type { BenchRun } from './bench-run.ts'
import { makeSource } from './make-source.ts'

const run = promisify(execFile)
const goals = { bytes: 0.6, vmaf: 95 }
const seconds = 20

/**
 * Easy content in 720p: slides that change every five seconds, and a slow pan over a still picture
 * with the sharpness of a lens.
 */
const sources = {
  slides: 'mandelbrot=s=1280x720:r=1:start_scale=0.5:end_scale=0.05:end_pts=4,setpts=N*5/TB,fps=30',
  pan: 'mandelbrot=s=1920x1080:r=30:start_scale=0.3:end_scale=0.3,gblur=sigma=4,loop=-1:1,setpts=N/30/TB,crop=1280:720:n:n*0.5',
}

/** Compares our ladder for easy content with fixed-rate encodes of the same sizes. */
export async function benchLadder({ tools, folder, report }: BenchRun): Promise<void> {
  const { stdout } = await run(tools.ffmpeg, ['-hide_banner', '-filters'])
  if (!/ libvmaf /.test(stdout)) {
    console.log('ladder: not measured, because this ffmpeg lacks the libvmaf filter; choose another one with --ffmpeg')
    return
  }
  for (const [name, content] of Object.entries(sources)) await compare(name, content, { tools, folder, report })
}

async function compare(name: string, content: string, { tools, folder, report }: Omit<BenchRun, 'pairs'>): Promise<void> {
  const source = await makeSource(tools, { content, seconds, crf: 12 }, join(folder, `${name}.mp4`))
  const work = { source, scratch: join(folder, name), tools }
  const probe = await probeSource(work)
  // Audio has the same size on both sides.
  const silent = planEncode({ probe: { ...probe, audio: [] }, tools })
  for (const { index } of silent.chunks) await encodeChunk({ ...work, plan: silent, chunkIndex: index })
  await packageRenditions({ ...work, plan: silent })
  let worst = Number.POSITIVE_INFINITY
  const total = { encoder: 0, fixedRate: 0 }
  for (const { key, video } of silent.renditions) {
    if (!video) continue
    const encoderFile = join(work.scratch, setFolder, setLayout.mp4(key))
    const fixedRateFile = await fixedRate(tools, source, video, join(folder, `${name}-${key}.mp4`))
    const [encoderBytes, fixedRateBytes] = [(await stat(encoderFile)).size, (await stat(fixedRateFile)).size]
    const [encoderScore, fixedRateScore] = [await vmaf(tools, encoderFile, source, video), await vmaf(tools, fixedRateFile, source, video)]
    total.encoder += encoderBytes
    total.fixedRate += fixedRateBytes
    worst = Math.min(worst, encoderScore - Math.min(fixedRateScore - 1, goals.vmaf))
    console.log(
      `  ${name} ${key}: ours ${kb(encoderBytes)}, VMAF ${encoderScore.toFixed(1)}; fixed rate ${kb(fixedRateBytes)}, VMAF ${fixedRateScore.toFixed(1)}`,
    )
  }
  const ratio = singleValue(total.encoder / total.fixedRate)
  report({
    row: `ladder-${name}`,
    title: `bytes of our ladder for ${name}, against fixed rates`,
    value: ratio,
    goal: { atMost: goals.bytes },
  })
  report({
    ...{ row: `ladder-${name}-vmaf`, title: `VMAF above the smaller of ${goals.vmaf} and that of the fixed rate minus 1`, unit: 'points' },
    ...{ value: singleValue(worst), goal: { atLeast: 0 } },
  })
}

async function fixedRate(
  tools: FfmpegTools,
  source: string,
  { width, height, kbps }: { width: number; height: number; kbps: number },
  file: string,
) {
  const rate = ['-b:v', `${kbps}k`, '-minrate', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${kbps}k`]
  const codec = ['-c:v', 'libx264', '-preset', 'veryfast', '-threads', '1', ...rate, '-g', '60', '-x264-params', 'scenecut=0']
  await run(tools.ffmpeg, [
    '-loglevel',
    'error',
    '-y',
    '-i',
    source,
    '-an',
    '-vf',
    `scale=${width}:${height}:flags=bicubic`,
    ...codec,
    file,
  ])
  return file
}

/** Returns the VMAF score of every fifth frame against the source, which is scaled to the size of the rendition. */
async function vmaf(tools: FfmpegTools, file: string, source: string, { width, height }: FrameSize): Promise<number> {
  const scaled = `[1:v]scale=${width}:${height}:flags=bicubic,settb=AVTB,setpts=N[b]`
  const graph = `[0:v]settb=AVTB,setpts=N[a];${scaled};[a][b]libvmaf=n_threads=2:n_subsample=5`
  const { stderr } = await run(tools.ffmpeg, ['-hide_banner', '-i', file, '-i', source, '-filter_complex', graph, '-f', 'null', '-'], {
    maxBuffer: 64 << 20,
  })
  return Number(/VMAF score: ([\d.]+)/.exec(stderr)?.[1])
}

function kb(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`
}
