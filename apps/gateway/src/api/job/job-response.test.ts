import { expect, test } from '@jest/globals'
import { Job, JobAction, JobState } from '@vitascope/proto/catalogue/v1/job'
import { Job as EncodingJob, JobState as EncodingState, RenditionState } from '@vitascope/proto/encoding/v1/job'
import { jobResponse } from './job-response.ts'
import { planResponse } from './plan-response.ts'

function buildJob(fields: Partial<Job> = {}): Job {
  return Job.create({
    jobId: '3',
    videoId: '10',
    mediaId: '11',
    organisationId: '2',
    action: JobAction.JOB_ACTION_NEW_VIDEO,
    state: JobState.JOB_STATE_RUNNING,
    progress: 57,
    createTime: new Date('2026-03-01T09:05:03Z'),
    ...fields,
  })
}

test('a job that encoding does not know has neither plan nor renditions', () => {
  expect(jobResponse(buildJob({ state: JobState.JOB_STATE_QUEUED, progress: 5 }), undefined)).toEqual({
    job_id: '3',
    video_id: '10',
    media_id: '11',
    action: 'new video',
    state: 'queued',
    progress: 5,
    attempt: 0,
    plan: null,
    renditions: [],
    error: null,
    time_created: '2026-03-01 09:05:03',
    time_started: '',
    time_finished: '',
  })
})

test('the response combines the state in encoding with the state in the catalogue', () => {
  const work = EncodingJob.fromPartial({
    state: EncodingState.JOB_STATE_ENCODING,
    attempt: 2,
    plan: {
      durationSeconds: 12.4804,
      ffmpegVersion: '7.1',
      segmentSeconds: 4,
      expectedCpuSeconds: 12.2,
      video: { frameRate: { numerator: 30_000, denominator: 1001 } },
      audio: { sounds: [{ name: 'English', language: 'en' }] },
      renditions: [{ key: 'h264_100', label: 100, video: { width: 256, height: 144 } }],
      chunks: [{ index: 0, startSeconds: 0, frames: 374 }],
    },
    renditions: [{ key: 'h264_100', state: RenditionState.RENDITION_STATE_OK, width: 256, height: 144, bytes: 1000, bitrate: 99_000 }],
    startTime: new Date('2026-03-01T09:05:04Z'),
    chunkProgress: [0.999, 1],
    expectedSeconds: 7.2,
  })
  expect(jobResponse(buildJob({ action: JobAction.JOB_ACTION_REPLACE }), work)).toMatchObject({
    action: 'replace',
    state: 'encoding',
    progress: 57,
    attempt: 2,
    plan: {
      duration: '12.48',
      frame_rate: '29.97',
      ffmpeg: '7.1',
      segment_seconds: 4,
      expected_cpu_seconds: 13,
      expected_seconds: 8,
      sounds: [{ name: 'English', language: 'en' }],
      chunks_done: 0,
      ladder: [{ key: 'h264_100', kbps: 100, width: 256, height: 144, copied: false }],
      chunks: [{ index: 0, start: '0', frames: 374, progress: 99 }],
    },
    renditions: [{ key: 'h264_100', state: 'ok', width: 256, height: 144, bytes: 1000, bitrate: 99_000 }],
    time_started: '2026-03-01 09:05:04',
  })
})

test.each([
  [JobState.JOB_STATE_QUEUED, EncodingState.JOB_STATE_FETCHING, 'fetching'],
  [JobState.JOB_STATE_RUNNING, EncodingState.JOB_STATE_PUBLISHING, 'publishing'],
  [JobState.JOB_STATE_RUNNING, EncodingState.JOB_STATE_OK, 'publishing'],
  [JobState.JOB_STATE_OK, EncodingState.JOB_STATE_OK, 'ok'],
  [JobState.JOB_STATE_CANCELLED, EncodingState.JOB_STATE_ENCODING, 'cancelled'],
  [JobState.JOB_STATE_FAILED, EncodingState.JOB_STATE_FAILED, 'failed'],
])('state %s in the catalogue and %s in encoding is shown as "%s"', (state, work, word) => {
  expect(jobResponse(buildJob({ state }), EncodingJob.create({ state: work })).state).toBe(word)
})

test('a failed job shows its finished renditions as failed', () => {
  const renditions = [{ key: 'h264_100', state: RenditionState.RENDITION_STATE_OK, width: 256, height: 144, bytes: 1000, bitrate: 99_000 }]
  const work = EncodingJob.fromPartial({ state: EncodingState.JOB_STATE_OK, renditions })
  const input = { key: 'h264_100', state: 'failed', width: 256, height: 144, bytes: 0, bitrate: 0 }
  expect(jobResponse(buildJob({ state: JobState.JOB_STATE_FAILED, code: 4003 }), work).renditions).toEqual([input])
})

test('a failed job has an error code and a message', () => {
  const job = buildJob({ state: JobState.JOB_STATE_FAILED, code: 4001, message: 'the source answered 404' })
  expect(jobResponse(job, undefined).error).toEqual({ code: 4001, message: 'the source answered 404' })
})

test('the plan marks the rendition that copies the frames of the source', () => {
  const size = { width: 1280, height: 720 }
  const plan = {
    ...{ durationSeconds: 12, ffmpegVersion: '7.1', segmentSeconds: 4, expectedCpuSeconds: 3.2, chunks: [] },
    renditions: [
      { key: 'h264_500', label: 500, video: size },
      { key: 'h264_1200', label: 1200, video: { ...size, copied: { timeBase: { numerator: 1, denominator: 12800 } } } },
      { key: 'aac_96', label: 96 },
    ],
  }
  expect(planResponse(EncodingJob.fromPartial({ plan }))?.ladder.map(({ copied }) => copied)).toEqual([false, true, false])
})
