import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@vitascope/concurrency'

/** Maximum time that the service waits for a task. It is less than the ten seconds that a call may last. */
export const WAIT_SECONDS = 8

const PAUSE = { minMs: 200, maxMs: 3_000 }

/** Waits before the next request for a task. Ends early when `stopping` aborts. */
export async function pauseAfterFailures(failures: number, stopping: AbortSignal): Promise<void> {
  await delay(backoffMs(failures, PAUSE), undefined, { signal: stopping }).catch(() => {})
}
