import type { RunningService } from '@vitascope/process'
import type { Logger } from '@vitascope/telemetry'
import type { WorkerConfig } from './config.ts'
import { createIdleClock } from './idle-clock.ts'
import { runChunks } from './run-chunks.ts'
import { runSlot } from './run-slot.ts'
import { KNOWN_KINDS, LIGHT_KINDS } from './run-task.ts'
import { openWorkerTools } from './worker-tools.ts'

/** Leases tasks and does them, each in a folder of its own; it holds no state, and any other worker could do what it does next. */
export async function startWorker(config: WorkerConfig, log: Logger): Promise<RunningService> {
  return config.chunk ? startOnChunks(config, config.chunk, log) : startSlots(config, log)
}

async function startSlots(config: WorkerConfig, log: Logger): Promise<RunningService> {
  const stopping = new AbortController()
  const { shared, close } = await openWorkerTools(config, log, stopping.signal)
  const idle = createIdleClock(config.idleSeconds, () => {
    log.info({ idle_seconds: config.idleSeconds }, 'there is nothing to do: ending')
    stopping.abort()
  })
  const tools = { ...shared, idle }
  const slots = [
    ...Array.from({ length: config.slots }, () => runSlot(tools, KNOWN_KINDS, stopping.signal)),
    // One more, so that the sound of one long source does not hold back all others.
    ...Array.from({ length: config.slots + 1 }, () => runSlot(tools, LIGHT_KINDS, stopping.signal)),
  ]
  // A slot ends by itself only when another process works under this name, and all of them when there was nothing to do.
  const ended = Promise.all(slots).then(async () => {
    idle.stop()
    await close()
    return 0
  })
  ended.catch((error: unknown) => {
    if (stopping.signal.aborted) return
    log.fatal({ err: error }, 'this worker cannot go on')
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

/** A pod of a Kubernetes Job: it is there for the chunks of one job, and its exit code tells what became of them. */
async function startOnChunks(config: WorkerConfig, chunk: NonNullable<WorkerConfig['chunk']>, log: Logger): Promise<RunningService> {
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
