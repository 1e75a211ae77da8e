import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDomainError } from '@vitascope/errors'
import { download, isSourceError, type SourcePolicy } from '@vitascope/fetch'
import { isSourceRefused } from '@vitascope/media'
import type { LeasedItem } from '@vitascope/queue'
import type { ObjectStorage, StoredBytes } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import type { SourceLimits } from '../config.ts'
import type { ReachPoint } from '../crash-point.ts'
import type { Fault, Job } from '../job/job.ts'
import type { TaskPlaces } from '../objects/object-prefix.ts'
import type { UploadBringer } from '../upload/bring-upload.ts'
import { readUploadSource } from '../upload/upload-source.ts'
import type { TaskSteps } from '../work/task-steps.ts'
import { untilReachable } from './until-reachable.ts'

export interface FetchTools {
  steps: TaskSteps
  storage: ObjectStorage
  uploads: UploadBringer
  policy: SourcePolicy
  limits: SourceLimits
  /** The folder for sources that come in. */
  scratchDir: string
  leaseMs: number
  reach: ReachPoint
  log: Logger
}

/** Brings the source of a job into storage: to its end, to a fault that is told, or back into the queue when this service stops. */
export async function fetchSource(tools: FetchTools, item: LeasedItem, stopping: AbortSignal): Promise<void> {
  const { steps, log } = tools
  const begun = await untilReachable(() => steps.begin(item), stopping)
  if (!begun) return
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  const beats = keepLease(tools, item, lost)
  const folder = join(tools.scratchDir, `${begun.job.jobId}-${item.fence}`)
  try {
    await bringIn(tools, item, begun, folder, beats, signal)
  } catch (error) {
    // Whoever lost the lease has nothing left to say.
    if (lost.signal.aborted) return
    if (stopping.aborted) {
      await steps.release(item)
      return
    }
    const fault = faultOf(error)
    log.info({ err: error, job: begun.job.jobId, code: fault.code }, 'a source could not be fetched')
    await untilReachable(() => steps.fault(item, fault), signal)
  } finally {
    beats.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function bringIn(
  tools: FetchTools,
  item: LeasedItem,
  { job, places }: { job: Job; places: TaskPlaces },
  folder: string,
  beats: Beats,
  signal: AbortSignal,
): Promise<void> {
  const { steps, storage, uploads, policy, limits, reach } = tools
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'source')
  reach('fetch-began')
  const object = `${places.source}/source`
  const { bytes, sha256 } = await stored()
  reach('fetch-stored')
  await untilReachable(() => steps.fetched(item, { object, bytes, sha256 }), signal)
  reach('fetch-recorded')

  async function stored(): Promise<StoredBytes> {
    const upload = readUploadSource(job.sourceUrl)
    if (!upload) return fetched()
    const { maxBytes } = limits
    return uploads.bring(upload, { organisationId: job.organisationId, object, file, maxBytes, onBytes: beats.done }, signal)
  }

  async function fetched(): Promise<StoredBytes> {
    const found = await download(job.sourceUrl, file, {
      policy,
      limits: {
        maxBytes: limits.maxBytes,
        timeoutMs: limits.timeoutSeconds * 1000,
        minBytesPerSecond: limits.minBytesPerSecond,
      },
      signal,
      onProgress: (progress) => beats.done(progress.total ? progress.bytes / progress.total : 0),
    })
    await storage.put(object, { file, move: true }, { signal })
    return found
  }
}

interface Beats {
  done(share: number): void
  stop(): void
}

/** Renews the lease three times in its length; a database that is away is asked again, a lease that is over ends the work. */
function keepLease({ steps, leaseMs, log }: FetchTools, item: LeasedItem, lost: AbortController): Beats {
  let share = 0
  const timer = setInterval(() => {
    steps.beat(item, share).then(
      (held) => {
        if (!held) lost.abort(new Error('the lease is over'))
      },
      (error: unknown) => log.warn({ err: error, task: item.itemId }, 'a lease could not be renewed'),
    )
  }, leaseMs / 3)
  return {
    done: (now) => {
      share = now
    },
    stop: () => clearInterval(timer),
  }
}

function faultOf(error: unknown): Fault {
  if (isSourceError(error) || isSourceRefused(error)) return { code: error.code, message: error.message }
  const isStorage = isDomainError(error) || (error instanceof Error && 'code' in error)
  return isStorage ? { code: 5004, message: 'the source could not be stored' } : { code: 5000, message: 'the source could not be fetched' }
}
