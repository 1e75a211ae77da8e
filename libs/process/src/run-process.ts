import { ConfigError, readEnvironment } from '@vitascope/config'
import { createLogger, type Logger, startTracing } from '@vitascope/telemetry'
import { readTraceSettings } from './trace-settings.ts'

/** A started service. `stop` accepts no new work, finishes running work, and closes what the service opened. */
export interface RunningService {
  /** Stops the service. Running work has `drainMs` to finish. The default is a few seconds. */
  stop(drainMs?: number): Promise<void>
  /** For a service that can end by itself: resolves to the exit code after everything is closed, also after `stop`. */
  ended?: Promise<number>
}

/** Maximum time for a stop. All of `npm start` has 10 s. */
const STOP_LIMIT_MS = 8_000
/** Additional time to write and close files and connections after all work has ended. */
const CLOSING_MS = 5_000

/** Runs one service as this process until a signal, the end of its supervisor, or an uncaught error. */
export async function runProcess(service: string, start: (log: Logger) => Promise<RunningService>): Promise<void> {
  const level = readLogLevel(process.env)
  const log = createLogger({ service, ...(level !== undefined && { level }) })
  const fail = (message: string) => (error: unknown) => {
    log.fatal({ err: error }, message)
    process.exit(1)
  }
  process.on('uncaughtException', fail('uncaught exception'))
  process.on('unhandledRejection', fail('unhandled rejection'))

  let running: RunningService | undefined
  let drainMs: number | undefined
  let stopping = false
  let sendLastSpans = async () => {}
  const exit = (code: number) => void sendLastSpans().finally(() => process.exit(code))
  const stop = (reason: string) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ reason }, 'stopping')
    setTimeout(() => fail('stopping took too long')(new Error(reason)), Math.max(STOP_LIMIT_MS, (drainMs ?? 0) + CLOSING_MS)).unref()
    Promise.resolve(running?.stop(drainMs))
      .then(() => running?.ended ?? 0)
      .then(exit, fail('stopping failed'))
  }
  process.once('SIGTERM', () => stop('SIGTERM'))
  process.once('SIGINT', () => stop('SIGINT'))
  process.once('disconnect', () => stop('the supervisor has ended'))
  // The supervisor may have ended while the modules of this process were loading.
  if (process.connected === false) stop('the supervisor has ended')

  try {
    drainMs = readDrain(process.env)
    const traces = readTraceSettings(process.env)
    if (traces) sendLastSpans = await startTracing(service, traces, log)
    running = await start(log)
  } catch (error) {
    if (error instanceof ConfigError) {
      log.fatal(error.message)
      // The supervisor prints these problems itself and does not restart this process.
      process.send?.({ configProblems: error.problems })
      process.exit(2)
    }
    fail('the start failed')(error)
  }
  process.send?.({ ready: service })
  log.info('ready')
  await running?.ended?.then(exit, fail('an error while stopping'))
}

/** Reads the settings that every process has, for the settings reference. */
export function readProcessSettings(env: NodeJS.ProcessEnv): void {
  readLogLevel(env)
  readDrain(env)
  readTraceSettings(env)
}

function readLogLevel(env: NodeJS.ProcessEnv): string | undefined {
  return readEnvironment(env).optional('VITASCOPE_LOG_LEVEL', {
    defaultText: '`info`',
    description: '`debug`, `info`, `warn` or `error`.',
  })
}

/** Reads `VITASCOPE_DRAIN_SECONDS` in ms. Returns undefined if it is not set. The service then uses its own default. */
function readDrain(env: NodeJS.ProcessEnv): number | undefined {
  const read = readEnvironment(env)
  const seconds = read.int('VITASCOPE_DRAIN_SECONDS', {
    fallback: 0,
    min: 1,
    max: 3_600,
    defaultText: '3; gateway: 5',
    description:
      'Time in which active requests may end after SIGTERM. The process is not ready in this time and accepts no new requests. It ends at most 5 s later, or 8 s after SIGTERM if that is later. With 15 every call ends. In Kubernetes `preStop` waits before SIGTERM until callers have noticed.',
  })
  read.check()
  return seconds === 0 ? undefined : seconds * 1_000
}
