import { beforeAll, describe, expect, test } from '@jest/globals'
import { VideoState } from '@vitascope/proto/catalogue/v1/video'
import { extendTimeout, waitFor } from '@vitascope/testing'
import { catalogueUnderTest, type Fixture, owner } from './catalogue-under-test.ts'

const fixture = catalogueUnderTest()
const { upload } = fixture
let database: Fixture['database']
let encoding: Fixture['encoding']
let request: Fixture['clients']
beforeAll(() => {
  ;({ database, encoding, clients: request } = fixture.now())
})

describe('during an outage', () => {
  test('of encoding, uploads are accepted and reach it in order afterwards', async () => {
    await encoding.stop()
    const first = await upload()
    const second = await request.media.replaceSource(
      { mediaId: first.mediaId, sourceUrl: 'https://example.org/b.mp4', organisationId: '', startsWaiting: false },
      owner,
    )
    encoding.state.calls.length = 0
    await encoding.start()
    await waitFor(() => encoding.state.jobs.has(second.jobId), { timeout: 20_000 })
    const seen = encoding.state.calls.filter((call, index, all) => all.indexOf(call) === index)
    expect(seen).toEqual([`create ${first.jobId}`, `cancel ${first.jobId}`, `create ${second.jobId}`])
  })
  test('of encoding without responses, calls of users still succeed', async () => {
    encoding.hold()
    encoding.state.calls.length = 0
    const uploads = await Promise.all(Array.from({ length: 12 }, () => upload()))
    await waitFor(() => encoding.state.calls.length >= 4)
    const started = Date.now()
    for (const { videoId } of uploads) await request.videos.getVideo({ videoId }, owner)
    expect(Date.now() - started).toBeLessThan(extendTimeout(2_000))
    encoding.release()
  })
  test('of all database connections, the service recovers', async () => {
    const { videoId } = await upload()
    for (let round = 0; round < 3; round++) {
      await database.db.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      const error = await request.videos.getVideo({ videoId }, owner).catch((e) => e.kind)
      if (typeof error === 'string') expect(error).toBe('unavailable')
      await waitFor(() => request.videos.getVideo({ videoId }, owner))
    }
  })
})

test('a job that encoding does not know is sent again', async () => {
  const { jobId } = await upload()
  await waitFor(() => encoding.state.jobs.has(jobId), { timeout: 20_000 })
  encoding.state.jobs.delete(jobId)
  await waitFor(async () => (await database.db.query(`select from outbox where payload ->> 'jobId' = $1`, [jobId])).length === 0, {
    timeout: 20_000,
  })
  await database.db.query(`update job set check_time = now() - interval '1 minute' where job_id = $1`, [jobId])
  await waitFor(() => encoding.state.jobs.has(jobId))
})

test('a job that can never be sent to encoding fails after its last attempt and blocks no other job', async () => {
  encoding.state.faulty = true
  const { videoId, mediaId, jobId } = await upload()
  // Simulates that all attempts but the last have failed, which takes about five minutes.
  const later = async () => {
    await database.db.query(`update outbox set faults = 19, next_time = now() where key = $1 and dead_time is null`, [`media:${mediaId}`])
    await database.db.query(`update job set check_time = now() - interval '1 hour' where job_id = $1`, [jobId])
  }
  const status = await waitFor(
    async () => {
      await later()
      const { video } = await request.videos.getVideo({ videoId }, owner)
      return video?.status?.state === VideoState.VIDEO_STATE_FAILED ? video.status : undefined
    },
    { timeout: 30_000, describe: 'the job to fail' },
  )
  encoding.state.faulty = false
  expect(status.code).toBe(5001)
})
