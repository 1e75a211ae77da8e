import type { Logger } from './log.ts'
import { setTracing } from './trace.ts'
import type { TraceSettings } from './trace-settings.ts'

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
