import type { Job as EncodingJob } from '@vitascope/proto/encoding/v1/job'
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
    expected_seconds: z.int().nullable().meta({
      description: 'From now until it plays whole, with what stands before it in the line; null unless it is encoded now.',
      example: 25,
    }),
    ladder: z
      .array(
        z.object({
          key: shown.text('As in `uri.http` of the video.', 'h264_1200'),
          kbps: shown.int('The most that the whole file may have on average.', 1200),
          width: shown.int('Pixels; 0 without a picture.', 1280),
          height: shown.int('Pixels; 0 without a picture.', 720),
          copied: z.boolean().meta({ description: 'Its picture is that of the source, which needs no encoding.', example: false }),
        }),
      )
      .meta({ description: 'By rising rate.' }),
    sounds: z
      .array(
        z.object({
          name: shown.text('What the menu of a player shows.', 'English'),
          language: shown.text('As in HLS; empty where the source says nothing.', 'en'),
        }),
      )
      .meta({ description: 'What can be heard; the first is in the files.' }),
    chunks_done: shown.int('How many of the chunks are complete.', 1),
    chunks: z
      .array(
        z.object({
          index: shown.int('From 0.', 0),
          start: shown.text('Seconds.', '0'),
          frames: shown.int('Pictures in it.', 374),
          progress: shown.int('Percent.', 100),
        }),
      )
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
    z.object({
      key: z.string(),
      label: z.number(),
      video: z.object({ width: z.number(), height: z.number(), copied: z.boolean().default(false) }).optional(),
    }),
  ),
  audio: z.object({ sounds: z.array(z.object({ name: z.string(), language: z.string() })).default([]) }).optional(),
  chunks: z.array(z.object({ index: z.number(), startSeconds: z.number(), frames: z.number() })),
})

/** null before there is a plan. */
export function planView({ planJson, chunkProgress, expectedSeconds }: EncodingJob): z.input<typeof PlanRecord> | null {
  if (planJson === '') return null
  const plan = Plan.parse(JSON.parse(planJson))
  const chunks = plan.chunks.map(({ index, startSeconds, frames }) => {
    return { index, start: decimal(startSeconds), frames, progress: Math.floor((chunkProgress[index] ?? 0) * 100) }
  })
  const rate = plan.video?.frameRate
  return {
    duration: decimal(plan.durationSeconds),
    frame_rate: rate ? decimal(rate.numerator / rate.denominator) : '',
    ffmpeg: plan.ffmpegVersion,
    segment_seconds: plan.segmentSeconds,
    expected_cpu_seconds: Math.ceil(plan.expectedCpuSeconds),
    expected_seconds: expectedSeconds === undefined ? null : Math.ceil(expectedSeconds),
    ladder: plan.renditions.map(({ key, label, video }) => {
      const { width, height, copied } = video ?? { width: 0, height: 0, copied: false }
      return { key, kbps: label, width, height, copied }
    }),
    sounds: (plan.audio?.sounds ?? []).map(({ name, language }) => ({ name, language })),
    chunks_done: chunks.filter(({ progress }) => progress === 100).length,
    chunks,
  }
}

function decimal(value: number): string {
  return String(Math.round(value * 1_000) / 1_000)
}
