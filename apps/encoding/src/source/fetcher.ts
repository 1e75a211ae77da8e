import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { countUnderWay } from '../job/job-store.ts'
import { LEAST_PRIORITY } from '../work/task.ts'
import { type FetchTools, fetchSource } from './fetch-source.ts'
import { untilReachable } from './until-reachable.ts'

/** Fetches sources, a few at once. */
export interface Fetcher {
  start(): void
  stop(): Promise<void>
}

/** How long one look for work waits, and how long to pause when enough jobs are under way or the database is away. */
const WAIT_MS = 5_000
const PAUSE_MS = 500

/** `holder` names this process in the queue. */
export function createFetcher(tools: FetchTools & { db: Db; queue: Queue; holder: string }): Fetcher {
  const { db, queue, holder, limits, leaseMs, log } = tools
  const stopping = new AbortController()
  const { signal } = stopping
  let loops: Promise<void>[] = []

  const fetchOne = async () => {
    // Sources that wait for a worker fill the storage: no more are brought in than are worked on soon. Those of jobs that give way keep out none but their like.
    const { all, first } = await countUnderWay(db.query)
    if (first >= limits.ahead) return pause(signal)
    const least = all >= limits.ahead ? { least: LEAST_PRIORITY } : {}
    // Asked by the same name until there is an answer: an answer that was lost on its way has leased an item to it.
    const ask = randomUUID()
    const item = await untilReachable(
      () => queue.lease({ kinds: ['fetch'], holder, leaseMs, ask, waitMs: WAIT_MS, ...least }, signal),
      signal,
    )
    if (item) await fetchSource(tools, item, signal)
  }
  const loop = async () => {
    while (!signal.aborted) {
      try {
        await fetchOne()
      } catch (error) {
        if (signal.aborted) return
        log.warn({ err: error }, 'the fetcher waits')
        await pause(signal)
      }
    }
  }
  return {
    start() {
      // The database may come later than this service.
      const ready = untilReachable(() => removeOrphans(db, tools.scratchDir), signal).catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'leftovers of earlier fetches were not removed')
      })
      loops = Array.from({ length: limits.parallel }, () => ready.then(loop))
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

/** What a fetch left that died: the folder of a lease that is over. Other replicas may share the folder, so theirs stay. */
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
