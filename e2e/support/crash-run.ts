import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom, type TestRedis, waitFor } from '@vitascope/testing'
import { kill, REDIS_FAULTS } from './nemesis.ts'
import { orphanedObjects } from './orphaned-objects.ts'
import { expectSameFrames } from './same-frames.ts'
import { buildPdf } from './slides.ts'
import type { TestPlatform } from './test-platform.ts'
import { type UploadedFile, type Uploader, uploadMethods, uploadSlides } from './upload-methods.ts'
import { type Tenant, type VideoRecord, waitUntilSettled } from './video-steps.ts'

/** Processes that are killed at random. */
const VICTIMS = ['worker', 'ffmpeg', 'encoding', 'catalogue', 'gateway', 'auth', 'delivery', 'postgres']
/** Maximum time from the last kill until all uploads have reached their final state. */
const RECOVERY_MS = 120_000

/** Result of a run. */
export interface CrashReport {
  seed: number
  /** Number of killed processes and of Redis faults, by name. */
  kills: Record<string, number>
  /** Number of acknowledged uploads of videos. */
  uploads: number
  /** Number of acknowledged uploads of slides. */
  presentations: number
  /** Number of videos by status and code, such as `ok 2000`. */
  states: Record<string, number>
  /** Seconds from the last kill or Redis fault until the last upload reached its final state. */
  recoverySeconds: number
}

/** Returns the report as one line of text for the table of faults. */
export function describeCrashRun({ kills, uploads, states, recoverySeconds }: CrashReport): string {
  const killCount = Object.values(kills).reduce((sum, count) => sum + count, 0)
  return `${killCount} kills, ${states['ok 2000'] ?? 0} of ${uploads} uploads playable, the last one ${recoverySeconds} s after the last kill`
}

export interface CrashOptions {
  /** Seed of the random kills. */
  seed: number
  /** Duration of the uploads and kills. */
  seconds: number
  /** All uploads belong to this organisation. */
  tenant: Tenant
  /**
   * Files that are uploaded in turn. At the end, each file is uploaded again without faults. The frames of both uploads
   * must be the same.
   */
  files: readonly UploadedFile[]
  /** If set, faults of this Redis are injected too. */
  redis?: TestRedis | undefined
  /** URLs of the gateways, which are used in turn. By default, the gateway of the platform. */
  gateways?: readonly string[] | undefined
}

/** Every fifth upload is a PDF of slides. */
const SLIDES_EVERY = 5
/** Number of pages of this PDF. */
const PAGES = 3

/**
 * Uploads by every method repeatedly, while random processes are killed and Redis is killed, flushed
 * and filled. Then waits until every acknowledged upload has reached its final state. Throws unless
 * playable videos are complete and have the frames of an undisturbed encode, no upload exists twice,
 * and storage has no orphaned objects.
 */
export async function crashRun(platform: TestPlatform, options: CrashOptions): Promise<CrashReport> {
  const random = seededRandom(options.seed)
  const { redis, gateways = [platform.url] } = options
  const uploader: Uploader = { tenant: options.tenant, gateways }
  const victims = [...VICTIMS, ...(gateways.length > 1 ? ['gateway-2'] : []), ...(redis ? Object.keys(REDIS_FAULTS) : [])]
  const kills: Record<string, number> = {}
  const accepted: { id: string; file: UploadedFile }[] = []
  const presentations: string[] = []
  const until = Date.now() + options.seconds * 1_000
  let lastKill = Date.now()
  let redisHeals = Promise.resolve()

  /**
   * Starts a fault of Redis, which ends 1 to 4 s later. It waits until the previous fault has ended. The nemesis kills
   * other processes meanwhile. Returns false if the name is not a fault of Redis.
   */
  const injectRedisFault = async (name: string) => {
    const fault = REDIS_FAULTS[name]
    if (!fault || !redis) return false
    await redisHeals
    await fault.begin(redis)
    redisHeals = delay(1_000 + random() * 3_000).then(() => fault.end(redis))
    // The run awaits this promise later and reports its failure.
    redisHeals.catch(() => {})
    return true
  }
  /** Kills a random process, or starts a fault of Redis, every 1 to 4 s. */
  const nemesis = async () => {
    while (Date.now() < until) {
      await delay(1_000 + random() * 3_000)
      const victim = victims[Math.floor(random() * victims.length)] ?? 'worker'
      if (!(await injectRedisFault(victim)) && !kill(platform, victim)) continue
      kills[victim] = (kills[victim] ?? 0) + 1
      lastKill = Date.now()
    }
    await redisHeals
  }
  const uploadRepeatedly = async () => {
    for (let n = 0; Date.now() < until; n++) {
      const currentUploader = { ...uploader, gateways: n % 2 === 0 ? gateways : gateways.toReversed() }
      const [file, uploadMethod] = [options.files[n % options.files.length], uploadMethods[n % uploadMethods.length]]
      if (!file || !uploadMethod) throw new Error('there is nothing to upload')
      if (n % SLIDES_EVERY === SLIDES_EVERY - 1) presentations.push(await uploadSlides(currentUploader, buildPdf(PAGES)))
      else accepted.push({ id: await uploadMethod(currentUploader, file, `crash-${options.seed}-${n}`), file })
      await delay(2_500 + random() * 1_500)
    }
  }
  await Promise.all([nemesis(), uploadRepeatedly()])

  await waitFor(async () => (await fetch(`${platform.url}/readyz`).catch(() => undefined))?.ok ?? false, {
    timeout: 60_000,
    describe: 'the platform to be ready',
  })
  const remainingMs = () => Math.max(1_000, lastKill + RECOVERY_MS - Date.now())
  const videos: VideoRecord[] = []
  for (const { id } of accepted) videos.push(await waitUntilSettled(platform.system, id, remainingMs()))
  for (const id of presentations) await waitForSlides(platform, id, remainingMs())
  const recoverySeconds = (Date.now() - lastKill) / 1_000
  await checkResults(platform, videos, presentations, options.tenant.organisationId)
  await checkFrames(platform, uploader, accepted, videos, options.seed)
  return {
    seed: options.seed,
    kills,
    uploads: accepted.length,
    presentations: presentations.length,
    states: countBy(videos, (v) => `${v.status.status} ${v.status.code}`),
    recoverySeconds,
  }
}

async function waitForSlides(platform: TestPlatform, id: string, timeout: number): Promise<void> {
  let status: unknown
  const check = async () => {
    const { body } = await platform.system.get<{ number_of_slides: number; status: { code: number } }>(`/presentation/${id}`)
    status = body.status
    return body.number_of_slides === PAGES && body.status.code === 1999
  }
  await waitFor(check, { timeout, describe: () => `the slides of presentation ${id}, whose status is ${JSON.stringify(status)}` })
}

/**
 * Uploads each file again without faults. Throws if a playable video of the same file has other frames. `accepted` and
 * `videos` have the same order.
 */
async function checkFrames(
  platform: TestPlatform,
  uploader: Uploader,
  accepted: readonly { id: string; file: UploadedFile }[],
  videos: readonly VideoRecord[],
  seed: number,
): Promise<void> {
  const [upload] = uploadMethods
  for (const file of new Set(accepted.map((one) => one.file))) {
    const id = await upload?.(uploader, file, `quiet-${seed}-${file.title}`)
    const undisturbed = await waitUntilSettled(platform.system, id ?? '')
    for (const [nth, one] of accepted.entries()) {
      const video = videos[nth]
      if (one.file === file && video?.status.status === 'ok') await expectSameFrames(undisturbed, video)
    }
  }
}

/**
 * Throws if the organisation has other videos than these, or if a file of a playable video is missing.
 * Then waits until storage has no orphaned objects. Throws if it still has some after one minute.
 */
export async function checkResults(
  platform: TestPlatform,
  videos: readonly VideoRecord[],
  presentations: readonly string[],
  organisationId: string,
): Promise<void> {
  const ids = new Set(videos.map((video) => video.video_id))
  if (ids.size !== videos.length) throw new Error('two uploads returned the same video')
  const list = await platform.system.get<{ total_num_of_records: number }>(`/video?organisation_id=${organisationId}&limit=1`)
  if (list.body.total_num_of_records !== ids.size) throw new Error(`${ids.size} uploads made ${list.body.total_num_of_records} videos`)
  const playable = videos.filter((video) => video.status.status === 'ok')
  for (const video of playable) {
    const urls = [
      video.uri.hls,
      video.uri.poster_frame,
      video.uri.thumbnail,
      ...Object.values(video.uri.http),
      ...Object.values(video.uri.all_thumbnails),
    ]
    for (const url of urls) {
      const { status } = await fetch(url, { method: 'HEAD' })
      if (status !== 200) throw new Error(`video ${video.video_id} is playable, but ${url} returned ${status}`)
    }
  }
  let orphans: string[] = []
  const hasNoOrphans = async () => {
    orphans = await orphanedObjects(platform, presentations)
    return orphans.length === 0
  }
  await waitFor(hasNoOrphans, {
    interval: 500,
    timeout: 60_000,
    describe: () => `storage to have no orphaned objects; it has ${orphans.slice(0, 20).join(' ')}`,
  })
}

function countBy<T>(items: readonly T[], name: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[name(item)] = (counts[name(item)] ?? 0) + 1
  return counts
}
