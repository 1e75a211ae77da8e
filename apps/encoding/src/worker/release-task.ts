import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Call, type Client, serviceCall } from '@vitascope/grpc'
import type { Task, WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import type { Logger } from '@vitascope/telemetry'

// A worker also releases its tasks during its shutdown. So a release is retried for two seconds
// only. If it fails, the lease expires.

type WorkClient = Client<typeof WorkServiceService>

const DEADLINE_MS = 2_000
const PAUSE_MS = 100

/** Releases a task, so that another worker can lease it. */
export async function releaseTask(work: WorkClient, { taskId, fence }: Task, log: Logger): Promise<void> {
  try {
    await sendWithRetries((call) => work.releaseTask({ taskId, fence }, call))
  } catch (error) {
    log.info({ err: error, task_id: taskId }, 'releasing a task failed; its lease will expire')
  }
}

/**
 * Releases the task that may have been leased to a request whose response was lost or is still in
 * transit.
 */
export async function releaseRequest(
  work: WorkClient,
  { workerId, requestId }: { workerId: string; requestId: string },
  log: Logger,
): Promise<void> {
  try {
    await sendWithRetries((call) => work.releaseRequest({ workerId, requestId }, call))
  } catch (error) {
    log.info({ err: error }, 'releasing the last lease request failed; its lease will expire')
  }
}

/**
 * Sends a request, and retries it for two seconds while the service is unavailable. The failed
 * connection may be the one on which the response of the lease was lost.
 */
async function sendWithRetries(request: (call: Call) => Promise<unknown>): Promise<void> {
  const deadline = new Date(Date.now() + DEADLINE_MS)
  for (;;) {
    try {
      await request({ ...serviceCall('worker', randomUUID()), deadline })
      return
    } catch (error) {
      const isUnavailable = isDomainError(error) && error.kind === 'unavailable'
      if (!isUnavailable || Date.now() + PAUSE_MS >= deadline.getTime()) throw error
      await delay(PAUSE_MS)
    }
  }
}
