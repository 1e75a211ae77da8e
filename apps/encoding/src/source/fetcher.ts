import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { countJobsInProgress } from '../job/job-store.ts'
import { type FetchKind, MIN_PRIORITY } from '../task/task.ts'
import { type FetchTools, fetchSource } from './fetch-source.ts'
import { untilReachable } from './until-reachable.ts'

/** Downloads sources, a few concurrently, and pictures one after another. */
export interface Fetcher {
  start(): void
  stop(): Promise<void>
}

/** Timeout of one wait for work. */
const WAIT_MS = 5_000
/** Pause while enough jobs are in progress, and after a failure. */
const PAUSE_MS = 500

/** Creates the fetcher. `holder` names this process in the queue. */
export function createFetcher(tools: FetchTools & { db: Db; queue: Queue; holder: string }): Fetcher {
  const { db, queue, holder, limits, leaseMs, log } = tools
  const stopping = new AbortController()
  const { signal } = stopping
  let loops: Promise<void>[] = []

  const fetchVideo = async () => {
    // Sources that wait for a worker occupy storage, so downloads pause while `maxJobsAhead` jobs
    // are in progress. Low-priority jobs block only other low-priority downloads.
    const { all, normal } = await countJobsInProgress(db.query)
    if (normal >= limits.maxJobsAhead) return pause(signal)
    await fetchNext('fetch', all >= limits.maxJobsAhead ? { minPriority: MIN_PRIORITY } : {})
  }
  const fetchNext = async (kind: FetchKind, bound: { minPriority?: number } = {}) => {
    // The same request id is used for all retries, because a lost response may have leased an item
    // to it.
    const requestId = randomUUID()
    const item = await untilReachable(
      () => queue.lease({ kinds: [kind], holder, leaseMs, requestId, waitMs: WAIT_MS, ...bound }, signal),
      signal,
    )
    if (item) await fetchSource(tools, item, signal)
  }
  const loop = async (fetchOne: () => Promise<void>) => {
    while (!signal.aborted) {
      try {
        await fetchOne()
      } catch (error) {
        if (signal.aborted) return
        log.warn({ err: error }, 'fetcher: leasing work failed; retrying')
        await pause(signal)
      }
    }
  }
  const tryRemoveOrphans = () =>
    // The database may start later than this service.
    untilReachable(() => removeOrphans(db, tools.scratchDir), signal).catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, 'removing files of earlier fetches failed')
    })
  /** Repeats the removal: the lease of a killed process is often still active when the next process starts. */
  const sweep = async () => {
    for (;;) {
      await delay(leaseMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      await tryRemoveOrphans()
    }
  }
  return {
    start() {
      const ready = tryRemoveOrphans()
      const starts = [...Array.from({ length: limits.parallel }, () => fetchVideo), () => fetchNext('fetch-poster')]
      loops = [...starts.map((fetchOne) => ready.then(() => loop(fetchOne))), ready.then(sweep)]
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

/**
 * Removes the folders of downloads whose lease is over. Replicas may share the scratch folder, so
 * folders of active leases are kept.
 */
async function removeOrphans(db: Db, scratchDir: string): Promise<void> {
  await mkdir(scratchDir, { recursive: true, mode: 0o700 })
  for (const name of await readdir(scratchDir)) {
    const fence = /^\d+-(\d+)$/.exec(name)?.[1]
    const leased = fence ? await db.query(`select 1 from work_item where fence = $1 and state = 'leased'`, [fence]) : []
    if (leased.length === 0) await rm(join(scratchDir, name), { recursive: true, force: true })
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return delay(PAUSE_MS, undefined, { signal }).catch(() => {})
}
