import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Call, type Client, serviceCall } from '@vitascope/grpc'
import type { Task, WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import type { Logger } from '@vitascope/telemetry'

// Told for a short time only, and by whoever stops too: what could not be told comes back when its lease has run out.

type WorkClient = Client<typeof WorkServiceService>

const DEADLINE_MS = 2_000
const PAUSE_MS = 100

/** Lets others have a task. */
export async function giveBackTask(work: WorkClient, { taskId, attempt }: Task, log: Logger): Promise<void> {
  try {
    await tell((call) => work.releaseTask({ taskId, attempt }, call))
  } catch (error) {
    log.info({ err: error, task: taskId }, 'a task could not be given back: its lease will run out')
  }
}

/** Lets others have what an ask without an answer may have been answered with: the answer may be on its way, or lost. */
export async function giveBackAsk(work: WorkClient, { workerId, ask }: { workerId: string; ask: string }, log: Logger): Promise<void> {
  try {
    await tell((call) => work.releaseAsk({ workerId, ask }, call))
  } catch (error) {
    log.info({ err: error }, 'what was asked for last could not be given back: if there was a task, its lease will run out')
  }
}

/** Tells it again while the service is away: what broke the connection may have taken the answer with it that is given back. */
async function tell(news: (call: Call) => Promise<unknown>): Promise<void> {
  const deadline = new Date(Date.now() + DEADLINE_MS)
  for (;;) {
    try {
      await news({ ...serviceCall('worker', randomUUID()), deadline })
      return
    } catch (error) {
      const isAway = isDomainError(error) && error.kind === 'unavailable'
      if (!isAway || Date.now() + PAUSE_MS >= deadline.getTime()) throw error
      await delay(PAUSE_MS)
    }
  }
}
