import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ladder, setFolder, setLayout, standardKeys } from '@vitascope/media'
import { medianRatio } from '../ratio.ts'
import type { BenchRun } from './bench-run.ts'
import { makeSource } from './make-source.ts'
import { runEncodeProgram } from './our-run.ts'

const goal = 1.15

/**
 * Compares an encode whose ffmpeg is killed after half of the frames with an undisturbed one. Both
 * must produce the same frames.
 */
export async function benchKill({ pairs, tools, folder, report }: BenchRun): Promise<void> {
  const content = 'mandelbrot=s=1280x720:r=30:end_scale=0.02:end_pts=3600,noise=alls=4:allf=t'
  const source = await makeSource(tools, { content, seconds: 120 }, join(folder, 'source.mp4'))
  const [undisturbedFolder, killedFolder] = [join(folder, 'whole'), join(folder, 'killed')]
  const ratios: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const undisturbed = await runEncodeProgram(tools, source, undisturbedFolder)
    const disturbed = await runEncodeProgram(tools, source, killedFolder, { killAt: 0.5 })
    ratios.push(disturbed.cpuSeconds / undisturbed.cpuSeconds)
    console.log(`  undisturbed CPU ${undisturbed.cpuSeconds.toFixed(2)} s, killed at half ${disturbed.cpuSeconds.toFixed(2)} s`)
  }
  const [expected, actual] = await Promise.all([undisturbedFolder, killedFolder].map((scratch) => frameHashes(tools.ffmpeg, scratch)))
  if (expected !== actual) throw new Error('the frames of a killed and an undisturbed encode differ')
  const title = 'CPU time of an encode killed at half, against an undisturbed one'
  report({ row: 'kill', title, value: medianRatio(ratios), goal: { atMost: goal }, detail: 'identical frames' })
}

async function frameHashes(ffmpeg: string, scratch: string): Promise<string> {
  const keys = ladder.map(({ key }) => key).filter((key) => standardKeys.includes(key))
  const hashes: string[] = []
  for (const key of keys) {
    const file = join(scratch, setFolder, setLayout.mp4(key))
    const { stdout } = await promisify(execFile)(ffmpeg, [
      '-loglevel',
      'error',
      '-i',
      file,
      '-map',
      '0',
      '-f',
      'streamhash',
      '-hash',
      'sha256',
      '-',
    ])
    hashes.push(stdout)
  }
  return hashes.join()
}
