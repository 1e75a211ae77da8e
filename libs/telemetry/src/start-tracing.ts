import type { Logger } from './log.ts'
import { setTracing } from './trace.ts'

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** Settings of the traces of a process. The exporter reads further `OTEL_EXPORTER_OTLP_…` variables itself. */
export interface TraceSettings {
  sampler: (typeof SAMPLERS)[number]
  /** Share of the traces that are recorded, 0 to 1, with `traceidratio` and `parentbased_traceidratio`. */
  ratio: number
  /** Requests per second whose client may decide that they are recorded. */
  clientTracesPerSecond: number
  /** `OTEL_EXPORTER_OTLP_HEADERS`. */
  headers: string | undefined
  scheduleDelayMs: number
  maxQueueSize: number
  maxBatchSize: number
}

/** Time limit for the last spans at the end of a process. */
const FLUSH_TIMEOUT_MS = 2_000

/**
 * Starts to record spans and to send them by OTLP. Returns a function that sends the last spans and
 * ends within two seconds. Loads the SDK, which a process without traces never does.
 */
export async function startTracing(service: string, settings: TraceSettings, log: Logger): Promise<() => Promise<void>> {
  const { createSdk } = await import('./trace-sdk.ts')
  const sdk = createSdk(service, settings, log)
  setTracing(sdk.tracing)
  return async () => {
    setTracing(undefined)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_TIMEOUT_MS)
    })
    await Promise.race([sdk.shutDown(), timeout])
    clearTimeout(timer)
  }
}
