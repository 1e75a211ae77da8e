import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import { ChunkStanding, type LeaseChunkResponse } from '@vitascope/proto/encoding/v1/work'
import { CHUNK_EXIT } from '../work/chunk-exit.ts'
import type { WorkerChunk } from './config.ts'
import { giveBackAsk } from './give-back.ts'
import type { SlotTools } from './run-slot.ts'
import { runTask } from './run-task.ts'

/** Below the ten seconds that a call may last. */
const WAIT_SECONDS = 8
const LONGEST_PAUSE_MS = 3_000
/** Answers that are no absence are faults of the service; after so many in a row another process may try. */
const FAULTS = 5

/**
 * Encodes chunks of one job, one after another, until nothing is left of it that nobody has; answers the exit code of this process.
 * Which chunk is next, and whether one is made, tried again, or of no use any more, is decided by the service alone.
 */
export async function runChunks(tools: SlotTools, ours: WorkerChunk, stopping: AbortSignal): Promise<number> {
  const sources = tools.shelf.hold()
  try {
    while (!stopping.aborted) {
      const answer = await leaseChunk(tools, ours, stopping)
      const { standing, task } = answer ?? {}
      if (standing === ChunkStanding.CHUNK_STANDING_OVER) return CHUNK_EXIT.over
      if (standing === ChunkStanding.CHUNK_STANDING_MADE || standing === ChunkStanding.CHUNK_STANDING_HELD) return CHUNK_EXIT.made
      const isWell = task ? await runTask(tools, task, sources, stopping) : answer !== undefined
      // After a fault another pod begins afresh, perhaps on a better node: this one might spoil the tries of one chunk after another.
      if (!isWell && !stopping.aborted) return CHUNK_EXIT.again
    }
    return CHUNK_EXIT.stopped
  } finally {
    await sources.drop()
  }
}

/** Asks until there is an answer, by one name, since an answer that was lost has leased a chunk to it; undefined when there will be none. */
async function leaseChunk(
  { work, workerId, log }: SlotTools,
  { jobId, chunk }: WorkerChunk,
  stopping: AbortSignal,
): Promise<LeaseChunkResponse | undefined> {
  const request = { workerId, ask: randomUUID(), waitSeconds: WAIT_SECONDS, jobId, chunk, planVersion, orAnother: true }
  for (let tries = 1, faults = 0; !stopping.aborted; tries++) {
    try {
      return await work.leaseChunk(request, serviceCall('worker', randomUUID(), stopping))
    } catch (error) {
      if (stopping.aborted) break
      const isAway = isDomainError(error) && error.kind === 'unavailable'
      if (!isAway && ((isDomainError(error) && error.reason === 'WORKER_SUPERSEDED') || ++faults === FAULTS)) {
        log.warn({ err: error, job: jobId, chunk }, 'no chunk can be had')
        return undefined
      }
      log[tries === 3 ? 'warn' : 'debug']({ err: error, job: jobId, chunk }, 'no answer: asking again')
      const pause = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** tries) * (0.5 + Math.random() / 2)
      await delay(pause, undefined, { signal: stopping }).catch(() => {})
    }
  }
  await giveBackAsk(work, request, log)
  return undefined
}
