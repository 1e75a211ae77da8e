import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import { ChunkStanding, type LeaseChunkResponse } from '@vitascope/proto/encoding/v1/work'
import { CHUNK_EXIT } from '../work/chunk-exit.ts'
import type { WorkerChunk } from './config.ts'
import type { SlotTools } from './run-slot.ts'
import { runTask } from './run-task.ts'

/** Below the ten seconds that a call may last. */
const WAIT_SECONDS = 8
const LONGEST_PAUSE_MS = 3_000
/** Answers that are no absence are faults of the service; after so many in a row another process may try. */
const FAULTS = 5

/**
 * Encodes one chunk, waiting while another worker holds it; answers the exit code of this process. Whether it is made, tried again, or of no
 * use any more is decided by the service alone.
 */
export async function runChunk(tools: SlotTools, chunk: WorkerChunk, stopping: AbortSignal): Promise<number> {
  const sources = tools.shelf.hold()
  try {
    for (let hasFailed = false; !stopping.aborted; ) {
      const answer = await leaseChunk(tools, chunk, hasFailed ? 0 : WAIT_SECONDS, stopping)
      if (answer === undefined) return stopping.aborted ? CHUNK_EXIT.stopped : CHUNK_EXIT.again
      const { standing, task } = answer
      if (standing === ChunkStanding.CHUNK_STANDING_MADE) return CHUNK_EXIT.made
      if (standing === ChunkStanding.CHUNK_STANDING_OVER) return CHUNK_EXIT.over
      if (task && (await runTask(tools, task, sources, stopping))) return CHUNK_EXIT.made
      // After a fault, another pod begins afresh, perhaps on a better node: unless the service says that nothing is left to be done.
      if (!task && hasFailed) return CHUNK_EXIT.again
      hasFailed ||= task !== undefined
    }
    return CHUNK_EXIT.stopped
  } finally {
    await sources.drop()
  }
}

/** Asks until there is an answer, by one name, since an answer that was lost has leased the chunk to it; undefined when there will be none. */
async function leaseChunk(
  { work, workerId, log }: SlotTools,
  { jobId, chunk }: WorkerChunk,
  waitSeconds: number,
  stopping: AbortSignal,
): Promise<LeaseChunkResponse | undefined> {
  const request = { workerId, ask: randomUUID(), waitSeconds, jobId, chunk, planVersion }
  for (let tries = 1, faults = 0; !stopping.aborted; tries++) {
    try {
      return await work.leaseChunk(request, serviceCall('worker', randomUUID(), stopping))
    } catch (error) {
      if (stopping.aborted) return undefined
      const isAway = isDomainError(error) && error.kind === 'unavailable'
      if (!isAway && ((isDomainError(error) && error.reason === 'WORKER_SUPERSEDED') || ++faults === FAULTS)) {
        log.warn({ err: error, job: jobId, chunk }, 'this chunk cannot be had')
        return undefined
      }
      log[tries === 3 ? 'warn' : 'debug']({ err: error, job: jobId, chunk }, 'no answer: asking again')
      const pause = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** tries) * (0.5 + Math.random() / 2)
      await delay(pause, undefined, { signal: stopping }).catch(() => {})
    }
  }
  return undefined
}
