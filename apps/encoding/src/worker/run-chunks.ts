import { randomUUID } from 'node:crypto'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import { ChunkState, type LeaseChunkResponse } from '@vitascope/proto/encoding/v1/work'
import { CHUNK_EXIT } from '../task/task.ts'
import type { WorkerChunk } from './config.ts'
import { pauseAfterFailures, WAIT_SECONDS } from './lease-retry.ts'
import { releaseRequest } from './release-task.ts'
import type { SlotTools } from './run-slot.ts'
import { runTask } from './run-task.ts'

/** Errors of a request other than `unavailable` after which this process ends with an error. */
const MAX_ERRORS = 5

/**
 * Encodes chunks of one job until none is left to lease. Returns the exit code of this process. The
 * service decides which chunk is next, and whether a chunk is done, retried or obsolete.
 */
export async function runChunks(tools: SlotTools, workerChunk: WorkerChunk, stopping: AbortSignal): Promise<number> {
  const sources = tools.sourceCache.openHandle()
  try {
    while (!stopping.aborted) {
      const response = await leaseChunk(tools, workerChunk, stopping)
      const { state, task } = response ?? {}
      if (state === ChunkState.CHUNK_STATE_OBSOLETE) return CHUNK_EXIT.obsolete
      if (state === ChunkState.CHUNK_STATE_DONE || state === ChunkState.CHUNK_STATE_ALL_LEASED) return CHUNK_EXIT.done
      const isDone = task ? await runTask(tools, task, sources, stopping) : response !== undefined
      // After a fault, another pod starts, perhaps on another node. If this node is faulty and the
      // pod continued, it would use up the attempts of all chunks.
      if (!isDone && !stopping.aborted) return CHUNK_EXIT.retry
    }
    return CHUNK_EXIT.stopped
  } finally {
    await sources.drop()
  }
}

/**
 * Requests a chunk until there is a response, always with the same request id, because a lost
 * response may have leased one. Returns undefined if the service rejects the request or fails
 * repeatedly, or after `stopping` aborts.
 */
async function leaseChunk(
  { work, workerId, log }: SlotTools,
  { jobId, chunk }: WorkerChunk,
  stopping: AbortSignal,
): Promise<LeaseChunkResponse | undefined> {
  const request = { workerId, requestId: randomUUID(), waitSeconds: WAIT_SECONDS, jobId, chunk, planVersion, anyChunk: true }
  for (let tries = 1, faults = 0; !stopping.aborted; tries++) {
    try {
      return await work.leaseChunk(request, serviceCall('worker', randomUUID(), stopping))
    } catch (error) {
      if (stopping.aborted) break
      const isUnavailable = isDomainError(error) && error.kind === 'unavailable'
      if (!isUnavailable && ((isDomainError(error) && error.reason === 'WORKER_SUPERSEDED') || ++faults === MAX_ERRORS)) {
        log.warn({ err: error, job_id: jobId, chunk }, 'leasing a chunk failed')
        return undefined
      }
      log[tries === 3 ? 'warn' : 'debug']({ err: error, job_id: jobId, chunk }, 'leasing a chunk failed; retrying')
      await pauseAfterFailures(tries, stopping)
    }
  }
  await releaseRequest(work, request, log)
  return undefined
}
