import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@vitascope/embedded-postgres'
import { waitFor } from '@vitascope/testing'
import { type Api, createApi } from '../api.ts'
import { objectProblems } from '../object-problems.ts'
import { startSourceServer } from '../source-server.ts'
import { makeSource } from '../sources.ts'
import { SYSTEM_KEY } from '../test-platform.ts'
import { createTenant, upload, waitUntilSettled } from '../video-steps.ts'
import { type KillablePlatform, startKillablePlatform } from './killable-platform.ts'
import { playFirstSegment } from './playback.ts'
import type { Recipe } from './recipe.ts'
import { type AcknowledgedWrite, startWriteLoad, type WriteLoad } from './write-load.ts'

export interface DrillOptions {
  /** Videos that are playable before the backup. */
  videos: number
  /** Minimum number of acknowledged writes before the backup, and again between the backup and the disaster. */
  writes: number
  /** Minimum time between the backup and the disaster. */
  secondsAfterBackup: number
}

export interface DrillResult {
  acknowledged: number
  acknowledgedBeforeBackup: number
  /** Lost writes that were acknowledged before the backup began. Must be empty. */
  lostBeforeBackup: AcknowledgedWrite[]
  lost: number
  /** Recovery point: age of the oldest lost write at the disaster. 0 if no write was lost. */
  rpoSeconds: number
  /** Age of the newest lost write at the disaster. 0 if no write was lost. */
  newestLostSeconds: number
  /** Recovery time: from the disaster to the first played segment. */
  playbackSeconds: number
  /** Recovery time: from the disaster to the first acknowledged write. */
  writeSeconds: number
  /** Part of the recovery time in which the data was restored. The rest is the start of the platform. */
  restoreSeconds: number
}

const READY_TIMEOUT_MS = 180_000
/** Short times, so that the repair after the restore ends quickly. */
const TIMES = {
  VITASCOPE_LEASE_MS: '3000',
  VITASCOPE_FETCH_LEASE_MS: '2000',
  VITASCOPE_WORKER_HEARTBEAT_MS: '500',
  VITASCOPE_RECONCILE_MS: '300',
}

/**
 * Loses a platform under load and restores it. All processes are killed, then the data folder and what else the recipe
 * destroys are deleted. Throws unless each video of the restored platform plays, objects and rows agree, and new uploads
 * work. The caller closes the recipe.
 */
export async function runDrill(recipe: Recipe, options: DrillOptions, print: (line: string) => void): Promise<DrillResult> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-drill-'))
  const sources = await startSourceServer(folder)
  const [port, opsPort] = [await freePort(), await freePort()]
  const dataDir = join(folder, 'data')
  const start = (settings: Recipe['settings']) => startKillablePlatform({ dataDir, port, opsPort, settings: { ...TIMES, ...settings } })
  let platform: KillablePlatform | undefined
  let load: WriteLoad | undefined
  try {
    await makeSource(folder, 'other.mp4')
    await mkdir(dataDir, { mode: 0o700 })
    platform = await start(recipe.settings)
    const tenant = await createTenant(createApi(`${platform.url}/v2`, SYSTEM_KEY))
    const api = createApi(`${platform.url}/v2`, tenant.key)
    const target = { api, organisationId: tenant.organisationId, sourceUrl: `${sources.url}/other.mp4` }
    const originals = await addVideos(target, options.videos)
    print(`${options.videos} videos play`)

    load = startWriteLoad(target)
    await waitForWrites(load, options.writes)
    const backupMs = performance.now()
    await recipe.backUp(dataDir)
    print(`backup under load: ${secondsSince(backupMs)} s`)
    const writesAtBackup = load.acknowledged.length
    await delay(options.secondsAfterBackup * 1000)
    await waitForWrites(load, writesAtBackup + options.writes)

    const [disasterMs, disasterTime] = [performance.now(), new Date()]
    const stopped = load.stop()
    await Promise.all([recipe.kill(), platform.kill()])
    await stopped
    await recipe.destroy(disasterTime)
    await rm(dataDir, { recursive: true, maxRetries: 5 })
    const recovered = watchRecovery(api, tenant.organisationId, originals)
    const restoreMs = performance.now()
    const settings = await recipe.restore(dataDir)
    const restoreSeconds = (performance.now() - restoreMs) / 1000
    print(`restored in ${restoreSeconds.toFixed(1)} s`)
    platform = await start(settings)
    const { playbackMs, writeMs } = await recovered

    const acknowledged = load.acknowledged.filter(({ ackedMs }) => ackedMs <= disasterMs)
    const lost = await findLost(api, acknowledged)
    const ages = lost.map(({ ackedMs }) => (disasterMs - ackedMs) / 1000)
    await checkRestored({ target, acknowledged, lost, originals })
    await waitFor(async () => (await objectProblems({ dataDir }, settings)).length === 0, {
      timeout: 120_000,
      interval: 2_000,
      describe: 'objects and rows to agree',
    })
    return {
      acknowledged: acknowledged.length,
      acknowledgedBeforeBackup: acknowledged.filter(({ ackedMs }) => ackedMs < backupMs).length,
      lostBeforeBackup: lost.filter(({ ackedMs }) => ackedMs < backupMs),
      lost: lost.length,
      rpoSeconds: Math.max(0, ...ages),
      newestLostSeconds: lost.length === 0 ? 0 : Math.min(...ages),
      playbackSeconds: (playbackMs - disasterMs) / 1000,
      writeSeconds: (writeMs - disasterMs) / 1000,
      restoreSeconds,
    }
  } finally {
    await load?.stop().catch((error: unknown) => print(`the load failed: ${error}`))
    await platform?.stop()
    await sources.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

interface Target {
  api: Api
  organisationId: string
  sourceUrl: string
}

/** Returns the hash of the first segment by video. */
async function addVideos({ api, organisationId, sourceUrl }: Target, count: number): Promise<Map<string, string>> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await upload(api, organisationId, sourceUrl, { name: `original ${i}` })).id)
  const hashes = new Map<string, string>()
  for (const id of ids) {
    const { status } = await waitUntilSettled(api, id)
    if (status.status !== 'ok') throw new Error(`video ${id} is ${status.status}`)
    hashes.set(id, await playFirstSegment(api, id))
  }
  return hashes
}

function waitForWrites({ acknowledged }: WriteLoad, count: number): Promise<boolean> {
  return waitFor(() => acknowledged.length >= count, { timeout: 60_000, describe: `${count} acknowledged writes` })
}

/** Resolves with the times of the first played segment and of the first acknowledged write. */
async function watchRecovery(api: Api, organisationId: string, originals: ReadonlyMap<string, string>) {
  const [[videoId, hash] = ['', '']] = originals
  const until = (condition: () => Promise<boolean>, describe: string) =>
    waitFor(condition, { timeout: READY_TIMEOUT_MS, interval: 50, describe }).then(() => performance.now())
  const [playbackMs, writeMs] = await Promise.all([
    until(async () => (await playFirstSegment(api, videoId)) === hash, 'a video to play'),
    until(
      async () => (await api.post(`/playlist/create/${organisationId}`, { title: 'after the disaster' })).status < 300,
      'a write to be acknowledged',
    ),
  ])
  return { playbackMs, writeMs }
}

/** Returns the acknowledged writes that the platform does not have. */
async function findLost(api: Api, acknowledged: readonly AcknowledgedWrite[]): Promise<AcknowledgedWrite[]> {
  const lost: AcknowledgedWrite[] = []
  for (const write of acknowledged) {
    const { status, body } = await api.get<{ title?: string; video_title?: string }>(`/${write.kind}/${write.id}`)
    if (status !== 200 && status !== 404) throw new Error(`GET /${write.kind}/${write.id} returned ${status}`)
    if (status === 404 || (body.title ?? body.video_title) !== write.title) lost.push(write)
  }
  return lost
}

interface Restored {
  target: Target
  acknowledged: readonly AcknowledgedWrite[]
  lost: readonly AcknowledgedWrite[]
  originals: ReadonlyMap<string, string>
}

/** Throws unless every video plays, and a new upload is encoded. */
async function checkRestored({ target, acknowledged, lost, originals }: Restored): Promise<void> {
  const { api, organisationId, sourceUrl } = target
  for (const [id, hash] of originals) {
    if ((await playFirstSegment(api, id)) !== hash) throw new Error(`video ${id} has another first segment than before`)
  }
  const next = await upload(api, organisationId, sourceUrl, { name: 'after the restore' })
  const present = acknowledged.filter((write) => write.kind === 'video' && !lost.includes(write))
  for (const id of [...present.map((write) => write.id), next.id]) {
    const { status } = await waitUntilSettled(api, id)
    if (status.status !== 'ok') throw new Error(`video ${id} is ${status.status} (code ${status.code})`)
    await playFirstSegment(api, id)
  }
  if (acknowledged.some(({ id }) => id === next.id)) throw new Error(`the id ${next.id} of a lost video was used again`)
}

function secondsSince(startMs: number): string {
  return ((performance.now() - startMs) / 1000).toFixed(1)
}
