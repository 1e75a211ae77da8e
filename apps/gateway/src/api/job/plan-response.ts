import type { Job as EncodingJob } from '@vitascope/proto/encoding/v1/job'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

/** The public part of a plan. The rest is internal to encoding and its workers. */
export const PlanResponse = z
  .object({
    duration: schema.text('Duration of the source in seconds.', '12.48'),
    frame_rate: schema.text('Frames per second. Empty if there is no picture.', '30'),
    ffmpeg: schema.text('Version of FFmpeg that encodes all files of the job.', '7.1'),
    segment_seconds: schema.int('Length of an HLS segment in seconds.', 4),
    expected_cpu_seconds: schema.int('Estimated time on one processor core.', 40),
    expected_seconds: z.int().nullable().meta({
      description:
        'Estimated seconds from now until the complete video is playable, including the jobs ahead of it. null unless the job is encoding now.',
      example: 25,
    }),
    ladder: z
      .array(
        z.object({
          key: schema.text('Key of the rendition in `uri.http` of the video.', 'h264_1200'),
          kbps: schema.int('Maximum average rate of the whole file in kbit/s.', 1200),
          width: schema.int('Width in pixels. 0 if there is no picture.', 1280),
          height: schema.int('Height in pixels. 0 if there is no picture.', 720),
          copied: z
            .boolean()
            .meta({ description: 'The rendition uses the encoded frames of the source without encoding them again.', example: false }),
        }),
      )
      .meta({ description: 'Planned renditions by increasing rate.' }),
    sounds: z
      .array(
        z.object({
          name: schema.text('Name that the menu of a player shows.', 'English'),
          language: schema.text('Language code as in HLS. Empty if the source does not name a language.', 'en'),
        }),
      )
      .meta({ description: 'Audio tracks. The first one is in the MP4 files.' }),
    chunks_done: schema.int('Number of complete chunks.', 1),
    chunks: z
      .array(
        z.object({
          index: schema.int('Index of the chunk, from 0.', 0),
          start: schema.text('Start of the chunk in seconds.', '0'),
          frames: schema.int('Number of frames in the chunk.', 374),
          progress: schema.int('Progress of the chunk in percent.', 100),
        }),
      )
      .meta({ description: 'Parts of the source that are encoded separately.' }),
  })
  .meta({ id: 'Plan', description: 'The encoding plan of a job.' })

/** Returns the public plan, or null before the job is planned. */
export function planResponse({ plan, chunkProgress, expectedSeconds }: EncodingJob): z.input<typeof PlanResponse> | null {
  if (!plan) return null
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
      const { width, height } = video ?? { width: 0, height: 0 }
      return { key, kbps: label, width, height, copied: video?.copied !== undefined }
    }),
    sounds: (plan.audio?.sounds ?? []).map(({ name, language }) => ({ name, language })),
    chunks_done: chunks.filter(({ progress }) => progress === 100).length,
    chunks,
  }
}

function decimal(value: number): string {
  return String(Math.round(value * 1_000) / 1_000)
}
