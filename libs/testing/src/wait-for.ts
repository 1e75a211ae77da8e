import { setTimeout as delay } from 'node:timers/promises'
import { extendTimeout } from './timeouts.ts'

export interface WaitOptions {
  /** Timeout in milliseconds on an idle machine. See `extendTimeout`. Default: 10 seconds. */
  timeout?: number
  /**
   * Milliseconds between two checks. The default grows from 20 to 250: it is 5 % of the time that has passed, so that
   * a long wait does not take processing time from the process that it waits for. Set a small interval for a state
   * that may end within 250 ms.
   */
  interval?: number
  /**
   * Description of the condition, as the end of "waited 10 s for …". A function is called at the timeout, so it can
   * include the last state.
   */
  describe?: string | (() => string)
}

const MIN_INTERVAL_MS = 20
const MAX_INTERVAL_MS = 250

/**
 * Calls `condition` repeatedly until it returns a truthy value, and returns that value. A condition that throws is
 * checked again. Throws an error with the description at the timeout. Its cause is the error of the last check.
 */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions = {}): Promise<NonNullable<T>> {
  const { interval, describe = 'a condition' } = options
  const timeout = extendTimeout(options.timeout ?? 10_000)
  const start = Date.now()
  const deadline = start + timeout
  let lastError: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value
      lastError = undefined
    } catch (error) {
      lastError = error
    }
    if (Date.now() >= deadline) {
      const description = typeof describe === 'string' ? describe : describe()
      const reason = lastError instanceof Error ? `; the last check failed: ${lastError.message}` : ''
      throw new Error(`waited ${timeout / 1000} s for ${description}${reason}`, { cause: lastError })
    }
    await delay(interval ?? Math.min(Math.max(MIN_INTERVAL_MS, (Date.now() - start) / 20), MAX_INTERVAL_MS))
  }
}
