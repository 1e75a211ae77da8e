// Faults: K15
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { isAlive, recordFigure, waitFor } from '@vitascope/testing'
import { checkResults } from './support/crash-run.ts'
import { asSuperuser } from './support/database.ts'
import { listFfmpegs } from './support/nemesis.ts'
import { type ReplicatedPlatform, startReplicas } from './support/replicas.ts'
import { startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { readUploadedFiles, retryUntilSuccess, type Uploader, uploadMethods } from './support/upload-methods.ts'
import { createTenant, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

/** The default duration of a task lease. */
const LEASE_MS = 30_000
const MAX_RECOVERY_MS = LEASE_MS + 30_000
const UPLOADS = 8

/**
 * Sends view events until it is stopped, and retries each until success. Returns the acknowledged
 * ones.
 */
function sendViews(uploader: Uploader, videoId: string): () => Promise<Set<string>> {
  const acknowledged = new Set<string>()
  let running = true
  const sendingEvents = (async () => {
    while (running) {
      const viewIds = Array.from({ length: 10 }, () => randomUUID())
      const events = viewIds.map((view_id) => ({
        video_id: videoId,
        view_id,
        type: 'progress',
        position: 2,
        watched: [[0, 2]],
        at: Date.now(),
      }))
      const { accepted } = await retryUntilSuccess(uploader, (api) => api.post<{ accepted: number }>('/analytics/events', events))
      expect(accepted).toBe(viewIds.length)
      for (const id of viewIds) acknowledged.add(id)
      await delay(100)
    }
  })()
  // The returned function throws the error.
  sendingEvents.catch(() => {})
  return async () => {
    running = false
    await sendingEvents
    return acknowledged
  }
}

async function expectViewsCounted(platform: ReplicatedPlatform, organisationId: string, videoId: string, acknowledged: Set<string>) {
  const stored = () =>
    asSuperuser(platform, async (client) => (await client.query<{ view_id: string }>('select view_id from analytics.view')).rows)
  const readLoads = async () =>
    (await platform.system.get<{ player_loads: number }>(`/analytics/views/${organisationId}/video/${videoId}`)).body.player_loads
  await waitFor(async () => (await readLoads()) === acknowledged.size, {
    timeout: 60_000,
    interval: 500,
    describe: `${acknowledged.size} views to be counted`,
  })
  expect(new Set((await stored()).map(({ view_id }) => view_id))).toEqual(acknowledged)
}

test('losing a node with one replica of each service loses no encode, upload or event', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sources-'))
  const sources = await startSourceServer(folder)
  for (const kind of ['small.mp4', 'good.mp4'] as const) await makeSource(folder, kind)
  const platform = await startReplicas()
  let stopViews: (() => Promise<Set<string>>) | undefined
  try {
    const tenant = await createTenant(platform.system)
    const uploader: Uploader = { tenant, gateways: [platform.url] }
    const files = await readUploadedFiles(['good.mp4', 'small.mp4'], folder, sources)
    const uploadOne = (index: number) => {
      const [uploadBy, file] = [uploadMethods[index % uploadMethods.length], files[index % files.length]]
      if (!uploadBy || !file) throw new Error('there is nothing to upload')
      return uploadBy(uploader, file, `upload ${index}`)
    }
    const viewedId = await uploadOne(1)
    await waitUntilSettled(platform.system, viewedId)
    stopViews = sendViews(uploader, viewedId)
    const videoIds = [viewedId]
    for (let index = 2; index < UPLOADS; index++) videoIds.push(await uploadOne(index))
    await waitFor(() => listFfmpegs(platform.pid('worker-2')).length > 0, { timeout: 60_000, describe: 'the second worker to encode' })
    const encoding = listFfmpegs(platform.pid('worker-2'))
    // This upload runs while the node dies.
    const last = uploadOne(UPLOADS)
    await platform.killSecondNode()
    const lostAt = Date.now()
    videoIds.push(await last)
    await waitFor(() => !encoding.some(isAlive), { timeout: 10_000, describe: 'ffmpeg to die with its worker' })

    const progress = new Map<string, number[]>()
    const recordProgress = ({ video_id, status }: VideoRecord) =>
      progress.set(video_id, [...(progress.get(video_id) ?? []), status.progress])
    // Requests fail until the remaining node detects the loss.
    const settleDespiteLoss = async (id: string) => {
      for (;;) {
        const video = await waitUntilSettled(platform.system, id, MAX_RECOVERY_MS, recordProgress).catch((error: Error) => {
          if (/returned 50[34]/.test(error.message) && Date.now() - lostAt < MAX_RECOVERY_MS) return undefined
          throw error
        })
        if (video) return video
      }
    }
    const videos = await Promise.all(videoIds.map(settleDespiteLoss))
    const recoveryMs = Date.now() - lostAt
    const acknowledged = await stopViews()
    recordFigure('K15', `${videos.length} uploads end ${(recoveryMs / 1_000).toFixed(1)} s after the loss`)
    process.stderr.write(`node loss: ${JSON.stringify({ uploads: videoIds.length, views: acknowledged.size, recoveryMs })}\n`)
    expect(videos.map(({ status }) => status.status)).toEqual(videoIds.map(() => 'ok'))
    expect(recoveryMs).toBeLessThanOrEqual(MAX_RECOVERY_MS)
    for (const steps of progress.values()) expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    await checkResults(platform, videos, [], tenant.organisationId)
    await expectViewsCounted(platform, tenant.organisationId, viewedId, acknowledged)
    expect((await fetch(`${platform.url}/readyz`)).status).toBe(200)
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${platform.log().slice(-10_000)}`, { cause: error })
  } finally {
    // A failure of sending the views was reported above.
    await stopViews?.().catch(() => {})
    await platform.remove()
    await sources.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 600_000)
