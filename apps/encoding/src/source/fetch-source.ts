import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDomainError } from '@vitascope/errors'
import { download, isSourceError, type SourcePolicy } from '@vitascope/fetch'
import { isInvalidSource, posterLimits } from '@vitascope/media'
import type { LeasedItem } from '@vitascope/queue'
import type { ObjectStorage, StoredBytes } from '@vitascope/storage'
import { type Logger, tracedFrom, untraced } from '@vitascope/telemetry'
import type { CrashPointHook } from '../common/crash-point.ts'
import type { TaskSteps } from '../engine/task-steps.ts'
import type { Job } from '../job/job.ts'
import type { TaskPrefixes } from '../objects/object-prefix.ts'
import { describeTask } from '../task/describe-task.ts'
import type { Fault } from '../task/fault.ts'
import { readUploadSource } from '../upload/upload-source.ts'
import type { UploadImporter } from './import-upload.ts'
import { untilReachable } from './until-reachable.ts'

export interface SourceLimits {
  /** Non-public networks from which sources may be downloaded. */
  allow: string[]
  /** URL of the proxy through which sources are downloaded. Without it, they are downloaded directly. */
  proxy?: string | undefined
  /** Maximum size of a source. */
  maxBytes: number
  /** Time limit for the download of a source, including all tries. */
  timeoutSeconds: number
  /** A slower download fails. */
  minBytesPerSecond: number
  /** Maximum duration of a source. */
  maxSeconds: number
  /** Number of concurrent downloads. */
  parallel: number
  /** Maximum number of jobs in progress, including downloaded sources that wait for a worker. */
  maxJobsAhead: number
  /** Whether sources are kept after the job, for renditions that are added later. */
  keepsSources: boolean
}

/** Time limit for the download of a picture, including all tries. */
const PICTURE_TIMEOUT_SECONDS = 60

export interface FetchTools {
  steps: TaskSteps
  storage: ObjectStorage
  uploads: UploadImporter
  policy: SourcePolicy
  limits: SourceLimits
  /** Folder for downloads. */
  scratchDir: string
  leaseMs: number
  atCrashPoint: CrashPointHook
  log: Logger
}

/**
 * Downloads the source of a job into storage. It records the stored source or a fault, or releases
 * the task when this service stops. If the lease is lost, it discards the download.
 */
export function fetchSource(tools: FetchTools, item: LeasedItem, stopping: AbortSignal): Promise<void> {
  const { kind, itemId, fence } = item
  return tracedFrom(
    item.traceparent,
    () => describeTask({ kind, taskId: itemId, fence }),
    () => fetchInTrace(tools, item, stopping),
  )
}

async function fetchInTrace(tools: FetchTools, item: LeasedItem, stopping: AbortSignal): Promise<void> {
  const { steps, log } = tools
  const started = await untilReachable(() => steps.begin(item), stopping)
  if (!started) return
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  const lease = keepLease(tools, item, lost)
  const folder = join(tools.scratchDir, `${started.job.jobId}-${item.fence}`)
  try {
    await fetchToStorage(tools, item, started, folder, lease, signal)
  } catch (error) {
    // The lease is lost, so there is nothing to report.
    if (lost.signal.aborted) return
    if (stopping.aborted) {
      await steps.release(item)
      return
    }
    const fault = toFault(error)
    log.info({ err: error, job_id: started.job.jobId, code: fault.code }, 'fetching a source failed')
    await untilReachable(() => steps.fault(item, fault), signal)
  } finally {
    lease.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Stores the source, from an upload or a URL, and records it. */
async function fetchToStorage(
  tools: FetchTools,
  item: LeasedItem,
  { job, prefixes }: { job: Job; prefixes: TaskPrefixes },
  folder: string,
  lease: RenewedLease,
  signal: AbortSignal,
): Promise<void> {
  const { steps, storage, uploads, policy, limits, atCrashPoint } = tools
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'source')
  atCrashPoint('fetch-began')
  const object = `${prefixes.source}/source`
  const { bytes, sha256 } = await storeSource()
  atCrashPoint('fetch-stored')
  await untilReachable(() => steps.fetched(item, { object, bytes, sha256 }), signal)
  atCrashPoint('fetch-recorded')

  async function storeSource(): Promise<StoredBytes> {
    const upload = readUploadSource(job.sourceUrl)
    if (!upload) return fetchFromUrl()
    const { maxBytes } = limits
    return uploads.importUpload(
      upload,
      { organisationId: job.organisationId, object, file, maxBytes, onProgress: lease.setProgress },
      signal,
    )
  }

  async function fetchFromUrl(): Promise<StoredBytes> {
    const isPicture = job.kind === 'poster'
    const downloaded = await download(job.sourceUrl, file, {
      policy,
      limits: {
        maxBytes: isPicture ? posterLimits.bytes : limits.maxBytes,
        timeoutMs: (isPicture ? PICTURE_TIMEOUT_SECONDS : limits.timeoutSeconds) * 1000,
        minBytesPerSecond: limits.minBytesPerSecond,
      },
      signal,
      onProgress: (progress) => lease.setProgress(progress.total ? progress.bytes / progress.total : 0),
    })
    await storage.put(object, { file, move: true }, { signal })
    return downloaded
  }
}

interface RenewedLease {
  /** Sets the progress that the next renewal reports, 0 to 1. */
  setProgress(progress: number): void
  stop(): void
}

/**
 * Renews the lease three times per lease duration. It tolerates an unavailable database, and aborts
 * the download when the lease is over.
 */
function keepLease({ steps, leaseMs, log }: FetchTools, item: LeasedItem, lost: AbortController): RenewedLease {
  let progress = 0
  const renew = () =>
    steps.extendLease(item, progress).then(
      (isRenewed) => {
        if (!isRenewed) lost.abort(new Error('the lease is over'))
      },
      (error: unknown) => log.warn({ err: error, task_id: item.itemId }, 'renewing a lease failed'),
    )
  const timer = setInterval(() => void untraced(renew), leaseMs / 3)
  return {
    setProgress: (now) => {
      progress = now
    },
    stop: () => clearInterval(timer),
  }
}

function toFault(error: unknown): Fault {
  if (isSourceError(error) || isInvalidSource(error)) return { code: error.code, message: error.message }
  const isStorage = isDomainError(error) || (error instanceof Error && 'code' in error)
  return isStorage ? { code: 5004, message: 'the source could not be stored' } : { code: 5000, message: 'the source could not be fetched' }
}
