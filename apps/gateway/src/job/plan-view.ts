import { z } from 'zod'
import { shown } from '../public-form.ts'

/** What is shown of a plan; the rest is between the encoding service and its workers. */
export const PlanRecord = z
  .object({
    duration: shown.text('Seconds.', '12.48'),
    frame_rate: shown.text('Pictures a second; empty without a picture.', '30'),
    ffmpeg: shown.text('The build that all of it is made with.', '7.1'),
    segment_seconds: shown.int('Length of an HLS segment.', 4),
    expected_cpu_seconds: shown.int('A rough guess, of one processor core.', 40),
    ladder: z
      .array(
        z.object({
          key: shown.text('As in `uri.http` of the video.', 'h264_1200'),
          kbps: shown.int('The most that the whole file may have on average.', 1200),
          width: shown.int('Pixels; 0 without a picture.', 1280),
          height: shown.int('Pixels; 0 without a picture.', 720),
        }),
      )
      .meta({ description: 'By rising rate.' }),
    chunks: z
      .array(z.object({ index: shown.int('From 0.', 0), start: shown.text('Seconds.', '0'), frames: shown.int('Pictures in it.', 374) }))
      .meta({ description: 'The parts that are encoded each by itself.' }),
  })
  .meta({ id: 'Plan', description: 'How a source is made to play.' })

/** As `encoding.v1.Job.plan_json` documents it. */
const Plan = z.object({
  durationSeconds: z.number(),
  ffmpegVersion: z.string(),
  segmentSeconds: z.number(),
  expectedCpuSeconds: z.number(),
  video: z.object({ frameRate: z.object({ numerator: z.number(), denominator: z.number() }) }).optional(),
  renditions: z.array(
    z.object({ key: z.string(), label: z.number(), video: z.object({ width: z.number(), height: z.number() }).optional() }),
  ),
  chunks: z.array(z.object({ index: z.number(), startSeconds: z.number(), frames: z.number() })),
})

/** null before there is a plan. */
export function planView(planJson: string): z.input<typeof PlanRecord> | null {
  if (planJson === '') return null
  const plan = Plan.parse(JSON.parse(planJson))
  const rate = plan.video?.frameRate
  return {
    duration: decimal(plan.durationSeconds),
    frame_rate: rate ? decimal(rate.numerator / rate.denominator) : '',
    ffmpeg: plan.ffmpegVersion,
    segment_seconds: plan.segmentSeconds,
    expected_cpu_seconds: Math.ceil(plan.expectedCpuSeconds),
    ladder: plan.renditions.map(({ key, label, video }) => ({ key, kbps: label, width: video?.width ?? 0, height: video?.height ?? 0 })),
    chunks: plan.chunks.map(({ index, startSeconds, frames }) => ({ index, start: decimal(startSeconds), frames })),
  }
}

function decimal(value: number): string {
  return String(Math.round(value * 1_000) / 1_000)
}
