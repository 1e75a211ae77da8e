// Faults: S7, C3, C5, C6, C8, C28
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { isAlive, waitFor } from '@vitascope/testing'
import { makeFakeFfmpeg, makeVideo, makeVideoToCopy } from './fixture.ts'
import { endProcesses, ffmpegsBelow, type RunningProcess, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, filesIn, openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let caller: Caller
let nextJob = 1
/** An encode takes some seconds, or ten times as long on a busy machine. */
const TIMEOUT_MS = 100_000
jest.setTimeout(2 * TIMEOUT_MS)

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/short.mp4', await makeVideo(join(environment.folder, 'short.mp4'), 4))
  environment.origin.serve('/long.mp4', await makeVideo(join(environment.folder, 'long.mp4'), 9))
  environment.origin.serve('/copy.mp4', await makeVideoToCopy(join(environment.folder, 'copy.mp4'), 6))
  environment.origin.serve('/text.mp4', Buffer.from('this is no video at all\n'.repeat(50)))
  environment.origin.serve('/playlist.mp4', Buffer.from('#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'))
})
afterEach(async () => {
  caller?.close()
  await endProcesses()
  await environment.deleteJobs()
})
afterAll(() => environment.close())

async function start(env: Record<string, string> = {}) {
  const service = await startServiceProcess(environment, env)
  caller = openCaller(service.address)
  return service
}

/**
 * Returns whether a job may copy the picture of its source, and the number of copied renditions in
 * its plan.
 */
async function readPlan(jobId: string) {
  const [row] = await environment.db.query<{ can_copy_video: boolean; copied: number }>(
    `select can_copy_video, jsonb_array_length(jsonb_path_query_array(plan::jsonb, '$.renditions[*].video.copied'))::int as copied
     from job where job_id = $1`,
    [jobId],
  )
  return row
}

async function create(path: string): Promise<string> {
  const jobId = String(nextJob++)
  await caller.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url(path) }, caller.call)
  return jobId
}

/** Waits until ffmpeg encodes a job. Returns its process id. */
async function waitForFfmpeg(jobId: string, worker: RunningProcess): Promise<number> {
  const pid = await waitFor(
    async () => {
      const { state } = await caller.job(jobId)
      return state === JobState.JOB_STATE_ENCODING && (await ffmpegsBelow(worker.pid))[0]
    },
    { timeout: TIMEOUT_MS, interval: 20, describe: 'ffmpeg to run' },
  )
  return Number(pid)
}

/**
 * Waits until the job is published. It must be published once, and storage must contain exactly the
 * files of its set.
 */
async function expectOneSet(jobId: string): Promise<void> {
  const set = await waitFor(() => environment.catalogue.published(jobId)[0], {
    timeout: TIMEOUT_MS,
    describe: `job ${jobId} to be published`,
  })
  expect((await caller.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
  for (const { path, bytes } of set.renditions) expect((await environment.storage.stat(`${set.prefix}/${path}`))?.bytes).toBe(bytes)
  for (const path of [set.hlsPath, set.posterPath, set.thumbnailPath, ...set.thumbnails.map((thumbnail) => thumbnail.path)]) {
    expect(await environment.storage.stat(`${set.prefix}/${path}`)).toBeDefined()
  }
  await waitFor(async () => (await environment.objects(`work/${jobId}`)).length === 0)
  expect(await environment.objects(`source/${jobId}`)).toHaveLength(1)
  await waitFor(async () => (await environment.objects(`media/9${jobId}`)).every((name) => name.startsWith(`${set.prefix}/`)))
  let bytes = 0
  for await (const object of environment.storage.list(set.prefix)) bytes += object.bytes
  expect(bytes).toBe(set.bytes)
  expect(environment.catalogue.published(jobId)).toHaveLength(1)
  expect(environment.catalogue.failed(jobId)).toHaveLength(0)
}

test('a URL becomes a published set', async () => {
  const service = await start()
  const worker = await startWorkerProcess(environment, service.address)
  const jobId = await create('/short.mp4')
  await expectOneSet(jobId)
  const [set] = environment.catalogue.published(jobId)
  expect(set).toMatchObject({ width: 320, height: 180, hasVideo: true, hasAudio: true })
  expect(set?.durationSeconds).toBeCloseTo(4, 1)
  expect(set?.renditions.map((rendition) => rendition.key)).toEqual([
    'h264_100',
    'h264_250',
    'h264_360',
    'h264_500',
    'h264_800',
    'h264_1200',
  ])
  expect(set?.renditions.every(({ width, height }) => width <= 320 && height <= 180)).toBe(true)
  const progress = environment.catalogue.progress(jobId)
  expect(progress).toEqual([...progress].sort((a, b) => a - b))
  expect(await caller.job(jobId)).toMatchObject({ attempt: 1, progress: 100 })
  expect(await filesIn(join(environment.folder, 'scratch/worker-worker-1'))).toEqual([])
  worker.kill('SIGTERM')
  service.kill('SIGTERM')
  expect(await Promise.all([worker.exited, service.exited])).toEqual([0, 0])
})

test.each([['/text.mp4'], ['/playlist.mp4']])('%s is rejected as a source without a retry', async (path) => {
  const service = await start()
  await startWorkerProcess(environment, service.address)
  const jobId = await create(path)
  await waitFor(() => environment.catalogue.failed(jobId).length === 1)
  expect(environment.catalogue.failed(jobId)[0]?.code).toBe(4002)
  expect(await caller.job(jobId)).toMatchObject({ attempt: 1 })
  await waitFor(async () => (await environment.objects(`source/${jobId}`)).length === 0)
})

describe('an ffmpeg', () => {
  test.each([
    ['that succeeds without output', 'exit 0', 5003],
    ['that crashes', 'kill -SEGV $$', 5002],
    ['that hangs', 'exec sleep 60', 5002],
  ])('%s fails the job after three attempts and publishes nothing', async (_, instead, code) => {
    const service = await start()
    await startWorkerProcess(environment, service.address, {
      VITASCOPE_FFMPEG: await makeFakeFfmpeg(join(environment.folder, 'fake'), instead),
      VITASCOPE_WORKER_STALL_SECONDS: '1',
    })
    const jobId = await create('/short.mp4')
    await waitFor(() => environment.catalogue.failed(jobId).length === 1, { timeout: 20_000 })
    expect(environment.catalogue.failed(jobId)[0]?.code).toBe(code)
    expect(await caller.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_FAILED, attempt: 3 })
    expect(environment.catalogue.published(jobId)).toHaveLength(0)
    expect(await environment.objects(`media/9${jobId}`)).toEqual([])
  })
})

describe('a picture that can be copied', () => {
  let canCopy: boolean
  beforeAll(async () => {
    canCopy = (await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).canCopyPictures
  })
  const countMismatches = (lines: RunningProcess['lines']) => lines.filter((line) => line['code'] === 5003).length
  test('is copied', async () => {
    const service = await start()
    await startWorkerProcess(environment, service.address)
    const jobId = await create('/copy.mp4')
    await expectOneSet(jobId)
    expect(await caller.job(jobId)).toMatchObject({ attempt: 1 })
    expect(await readPlan(jobId)).toMatchObject({ can_copy_video: true, copied: canCopy ? 1 : 0 })
  })
  test('is encoded in the same attempt if the copy is wrong', async () => {
    const service = await start()
    // The script drops all frames to copy except the first three.
    const wrong = `for word do shift; case "$word" in noise=*) word="noise=drop='gt(n,3)'";; esac; set -- "$@" "$word"; done`
    // The script runs as another user, who needs a path to the real program.
    await chmod(environment.folder, 0o755)
    const ffmpeg = await makeFakeFfmpeg(
      join(environment.folder, 'wrong'),
      `${wrong}\nexec ${join(environment.folder, 'wrong/lib/ffmpeg')} "$@"`,
    )
    const worker = await startWorkerProcess(environment, service.address, { VITASCOPE_FFMPEG: ffmpeg })
    const jobId = await create('/copy.mp4')
    await expectOneSet(jobId)
    expect(countMismatches(worker.lines) > 0).toBe(canCopy)
    expect(await caller.job(jobId)).toMatchObject({ attempt: 1 })
    expect(await readPlan(jobId)).toMatchObject({ can_copy_video: !canCopy, copied: 0 })
  })
})

describe('during an encode', () => {
  // On an idle machine, ffmpeg ends within one second of its worker.
  test('killing a worker ends its ffmpeg, and the next worker continues at once', async () => {
    // The lease lasts much longer than the test, so the restart must end it.
    const service = await start({ VITASCOPE_LEASE_MS: '600000' })
    const worker = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    const ffmpeg = await waitForFfmpeg(jobId, worker)
    worker.kill('SIGKILL')
    await worker.exited
    await waitFor(() => !isAlive(ffmpeg), { timeout: 10_000, describe: 'ffmpeg to end' })
    await startWorkerProcess(environment, service.address)
    await expectOneSet(jobId)
    expect((await caller.job(jobId)).attempt).toBe(2)
  })
  test('killing ffmpeg costs one attempt', async () => {
    const service = await start()
    const worker = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    process.kill(await waitForFfmpeg(jobId, worker), 'SIGKILL')
    await expectOneSet(jobId)
    expect((await caller.job(jobId)).attempt).toBe(2)
  })
  test('a worker that pauses past its lease loses its task', async () => {
    const service = await start({ VITASCOPE_LEASE_MS: '4000' })
    const stale = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    await waitForFfmpeg(jobId, stale)
    stale.kill('SIGSTOP')
    await startWorkerProcess(environment, service.address, { VITASCOPE_WORKER_NAME: 'worker-2' })
    await expectOneSet(jobId)
    // Excludes the time of the last check, which changes repeatedly.
    const jobs = async () =>
      JSON.stringify(await environment.db.query(`select to_jsonb(j) - 'check_time' as job from job j order by job_id`))
    const rows = await jobs()
    stale.kill('SIGCONT')
    await waitFor(() => stale.lines.some((line) => line['outcome'] === 'lost'), { describe: 'the stale worker to detect its lost lease' })
    await waitFor(async () => (await filesIn(join(environment.folder, 'scratch/worker-worker-1'))).length === 0)
    await expectOneSet(jobId)
    expect(await jobs()).toBe(rows)
  })
  test('a task that takes longer than its lease runs once, because its worker renews the lease', async () => {
    const folder = join(environment.folder, 'slow')
    await chmod(environment.folder, 0o755)
    // Reports no progress for more than two leases.
    const ffmpeg = await makeFakeFfmpeg(folder, `case "$*" in *libx264*) sleep 7;; esac\nexec ${join(folder, 'lib/ffmpeg')} "$@"`)
    const env = { VITASCOPE_FFMPEG: ffmpeg, VITASCOPE_WORKER_HEARTBEAT_MS: '500' }
    const service = await start({ VITASCOPE_LEASE_MS: '3000' })
    await startWorkerProcess(environment, service.address, env)
    await startWorkerProcess(environment, service.address, { ...env, VITASCOPE_WORKER_NAME: 'worker-2' })
    const jobId = await create('/short.mp4')
    await expectOneSet(jobId)
    expect((await caller.job(jobId)).attempt).toBe(1)
  })
  test('a stopped worker releases its task, and this counts as no attempt', async () => {
    const service = await start({ VITASCOPE_LEASE_MS: '600000' })
    const worker = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    const ffmpeg = await waitForFfmpeg(jobId, worker)
    worker.kill('SIGTERM')
    expect(await worker.exited).toBe(0)
    expect(isAlive(ffmpeg)).toBe(false)
    await startWorkerProcess(environment, service.address, { VITASCOPE_WORKER_NAME: 'worker-2' })
    await expectOneSet(jobId)
    expect((await caller.job(jobId)).attempt).toBe(1)
  })
  test('a service that is killed and restarted accepts the result of the running worker', async () => {
    const service = await start()
    const worker = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    await waitForFfmpeg(jobId, worker)
    service.kill('SIGKILL')
    await service.exited
    caller.close()
    await start({ VITASCOPE_ENCODING_LISTEN: service.address })
    await expectOneSet(jobId)
    expect((await caller.job(jobId)).attempt).toBe(1)
  })
  test('a database that drops its connections repeatedly costs no attempt', async () => {
    // The default lease. The short one of these tests may expire while a busy machine reconnects.
    const service = await start({ VITASCOPE_FETCH_LEASE_MS: '10000' })
    const worker = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    const drop = () =>
      environment.db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      )
    let drops = 0
    let isDone = false
    const dropping = (async () => {
      while (!isDone) {
        // Only established connections are dropped. Otherwise, a slow machine would make no
        // progress.
        await waitFor(() => caller.job(jobId), { timeout: TIMEOUT_MS, describe: 'the service to reconnect to its database' })
        // This test's own connections are dropped, too.
        await waitFor(drop, { timeout: TIMEOUT_MS, describe: 'this test to reconnect to the database' })
        drops++
        await delay(300)
      }
    })()
    try {
      await waitForFfmpeg(jobId, worker)
      await waitFor(async () => (await caller.job(jobId)).state !== JobState.JOB_STATE_ENCODING, {
        timeout: TIMEOUT_MS,
        describe: 'the encode to end',
      })
    } finally {
      isDone = true
      await dropping
    }
    expect(drops).toBeGreaterThan(2)
    await expectOneSet(jobId)
    expect((await caller.job(jobId)).attempt).toBe(1)
  }, 300_000)
  test('cancelling a job stops its ffmpeg and leaves no objects', async () => {
    const service = await start()
    const worker = await startWorkerProcess(environment, service.address)
    const jobId = await create('/long.mp4')
    const ffmpeg = await waitForFfmpeg(jobId, worker)
    await caller.jobs.cancelJob({ jobId }, caller.call)
    await waitFor(() => !isAlive(ffmpeg), { describe: 'ffmpeg to end' })
    for (const prefix of [`source/${jobId}`, `work/${jobId}`, `media/9${jobId}`]) {
      await waitFor(async () => (await environment.objects(prefix)).length === 0, { describe: `${prefix} to be empty` })
    }
    await waitFor(async () => (await filesIn(join(environment.folder, 'scratch/worker-worker-1'))).length === 0)
  })
})
