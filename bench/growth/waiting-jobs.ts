import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'
import { type Db, migrate, openPostgres } from '@vitascope/postgres'
import { createQueue, type Queue } from '@vitascope/queue'
import { testLog } from '@vitascope/testing'
import type { ReportFigure } from '../figure.ts'
import { median, medianRatio } from '../ratio.ts'

const GOAL = 0.9
/** Number of organisations that share the waiting jobs. */
const GROUPS = 20
const MIGRATIONS = join(import.meta.dirname, '../../libs/queue/migrations')
const never = new AbortController().signal

/**
 * Measures how many tasks per second a worker leases and completes. Compares the rate while many jobs
 * wait with the rate while one job waits. Each completed task is replaced by a new one.
 */
export async function compareWaitingJobs(
  { jobs, pairs, seconds }: { jobs: number; pairs: number; seconds: number },
  report: ReportFigure,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-growth-'))
  await initDatabase(join(folder, 'postgres'), { durable: false })
  const server = await startPostgres({ dir: join(folder, 'postgres'), durable: false })
  const opened: Db[] = []
  try {
    const openQueue = async (schema: string, waiting: number) => {
      await migrate({ url: server.url, schema, folder: MIGRATIONS, log: testLog })
      const db = openPostgres({ url: server.url, schema, log: testLog, poolSize: 2 })
      opened.push(db)
      const queue = createQueue(db)
      for (let nth = 0; nth < waiting; nth++) await addTask(db, queue, nth)
      await db.query('analyze work_item')
      return { db, queue }
    }
    const [one, many] = [await openQueue('one', 1), await openQueue('many', jobs)]
    const rates: Record<'one' | 'many', number[]> = { one: [], many: [] }
    // The first round is not counted. It fills caches.
    for (let pair = 0; pair <= pairs; pair++) {
      const steps = [
        async () => ({ side: 'one' as const, rate: await measureRate(one, seconds) }),
        async () => ({ side: 'many' as const, rate: await measureRate(many, seconds) }),
      ]
      for (const step of pair % 2 ? steps : steps.toReversed()) {
        const { side, rate } = await step()
        if (pair > 0) rates[side].push(rate)
      }
    }
    report({
      ...{ row: 'waiting-jobs', title: `tasks leased and completed per second with ${jobs} waiting jobs, against one` },
      ...{ value: medianRatio(rates.many.map((rate, pair) => rate / (rates.one[pair] ?? Number.NaN))), goal: { atLeast: GOAL } },
      detail: `${Math.round(median(rates.many))}/s, ${Math.round(median(rates.one))}/s`,
    })
  } finally {
    for (const db of opened) await db.close()
    await server.stop({ immediate: true })
    await rm(folder, { recursive: true, force: true })
  }
}

function addTask(db: Db, queue: Queue, nth: number): Promise<string> {
  return db.transaction((tx) =>
    queue.send(tx, { key: `job:${nth}`, kind: 'encode', group: `organisation:${nth % GROUPS}`, priority: 0, payload: {} }),
  )
}

async function measureRate({ db, queue }: { db: Db; queue: Queue }, seconds: number): Promise<number> {
  const began = performance.now()
  let done = 0
  while (performance.now() - began < seconds * 1_000) {
    const item = await queue.lease({ kinds: ['encode'], holder: 'bench', leaseMs: 30_000 }, never)
    if (!item) throw new Error('no task is waiting')
    await db.transaction((tx) => queue.complete(tx, item))
    await addTask(db, queue, done++)
  }
  return (done * 1_000) / (performance.now() - began)
}
