import type { RunningService } from '@vitascope/process'
import type { Logger } from '@vitascope/telemetry'
import type { WorkerConfig } from './config.ts'
import { createIdleClock } from './idle-clock.ts'
import { runChunks } from './run-chunks.ts'
import { runSlot } from './run-slot.ts'
import { DEFAULT_KINDS, LIGHT_KINDS } from './run-task.ts'
import { openWorkerTools } from './worker-tools.ts'

/**
 * Leases tasks and runs them, each in a folder of its own. A worker is stateless, so any other
 * worker can continue its work.
 */
export async function startWorker(config: WorkerConfig, log: Logger): Promise<RunningService> {
  return config.chunk ? startChunkPod(config, config.chunk, log) : startSlots(config, log)
}

async function startSlots(config: WorkerConfig, log: Logger): Promise<RunningService> {
  const stopping = new AbortController()
  const { shared, close } = await openWorkerTools(config, log, stopping.signal)
  const idle = createIdleClock(config.idleSeconds, () => {
    log.info({ idle_seconds: config.idleSeconds }, 'no tasks; stopping')
    stopping.abort()
  })
  const tools = { ...shared, idle }
  const slots = [
    ...Array.from({ length: config.slots }, () => runSlot(tools, DEFAULT_KINDS, stopping.signal)),
    // There is one more slot for light tasks, so that the audio of one long source does not block
    // all others.
    ...Array.from({ length: config.slots + 1 }, () => runSlot(tools, LIGHT_KINDS, stopping.signal)),
  ]
  // Without a stop, a slot ends only if another process has registered under this name. All slots
  // end when the worker is stopped or was idle for too long.
  const ended = Promise.all(slots).then(async () => {
    idle.stop()
    await close()
    return 0
  })
  ended.catch((error: unknown) => {
    if (stopping.signal.aborted) return
    log.fatal({ err: error }, 'worker failed')
    process.exit(1)
  })

  return {
    ended,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/**
 * Runs a pod of a Kubernetes Job. It encodes chunks of one job, and its exit code reports the
 * outcome.
 */
async function startChunkPod(config: WorkerConfig, chunk: NonNullable<WorkerConfig['chunk']>, log: Logger): Promise<RunningService> {
  const stopping = new AbortController()
  const { shared, close } = await openWorkerTools(config, log, stopping.signal)
  const ended = runChunks(shared, chunk, stopping.signal).finally(close)
  return {
    ended,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
