import { join } from 'node:path'
import { planEncode, probeSource } from '@vitascope/media'
import { median, medianRatio } from '../ratio.ts'
import type { BenchRun } from './bench-run.ts'
import { makeSource } from './make-source.ts'
import { runEncodeProgram } from './our-run.ts'
import type { Cost } from './timed-run.ts'

const goal = 0.6
/**
 * Typical H.264 source of a website: two seconds per group of pictures, and a bit rate below that
 * of the largest rendition.
 */
const picture = '-c:v libx264 -preset medium -b:v 900k -maxrate 1000k -bufsize 1000k -pix_fmt yuv420p -x264-params'.split(' ')
const groups = 'keyint=60:min-keyint=60:scenecut=0:open-gop=0'

/**
 * Compares an encode whose source picture is copied as the largest rendition with an encode of all
 * renditions.
 */
export async function benchCopy({ pairs, tools, folder, report }: BenchRun): Promise<void> {
  const content = 'mandelbrot=s=1280x720:r=30:end_scale=0.02:end_pts=1800,noise=alls=4:allf=t'
  const source = await makeSource(tools, { content, seconds: 60, picture: [...picture, groups] }, join(folder, 'source.mp4'))
  const plan = planEncode({ probe: await probeSource({ source, scratch: join(folder, 'probe'), tools }), tools })
  if (!plan.renditions.at(-1)?.video?.copied) throw new Error('the picture of the source cannot be copied')
  const [withCopy, without]: [Cost[], Cost[]] = [[], []]
  for (let pair = 0; pair < pairs; pair++) {
    const steps = [
      async () => withCopy.push(await runEncodeProgram(tools, source, join(folder, 'ours'))),
      async () => without.push(await runEncodeProgram(tools, source, join(folder, 'without'), { copies: false })),
    ]
    if (pair % 2 === 1) steps.reverse()
    for (const step of steps) await step()
  }
  const ratio = medianRatio(withCopy.map(({ cpuSeconds }, pair) => cpuSeconds / (without[pair]?.cpuSeconds ?? cpuSeconds)))
  const formatMedian = (costs: readonly Cost[]) => median(costs.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2)
  report({
    ...{ row: 'copy', title: 'CPU time with a copied largest rendition, against encoding it', value: ratio, goal: { atMost: goal } },
    detail: `${formatMedian(withCopy)} s, ${formatMedian(without)} s`,
  })
}
