import { setTimeout as delay } from 'node:timers/promises'
import { patient } from './patience.ts'

export interface WaitOptions {
  /** Milliseconds, on a machine that has nothing else to do: see `patient`. 10 seconds when not given. */
  timeout?: number
  /** Milliseconds between two looks; 20 when not given. */
  interval?: number
  /** What is waited for, as the end of "waited 10 s for …"; asked when the time is up, so it can tell what was seen last. */
  describe?: string | (() => string)
}

/** Looks again and again until the condition gives something true, and gives that back; a condition that throws is not met yet. */
export async function waitFor<T>(condition: () => T | Promise<T>, options: WaitOptions = {}): Promise<NonNullable<T>> {
  const { interval = 20, describe = 'a condition' } = options
  const timeout = patient(options.timeout ?? 10_000)
  const until = Date.now() + timeout
  let last: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value
      last = undefined
    } catch (error) {
      last = error
    }
    if (Date.now() >= until) {
      const what = typeof describe === 'string' ? describe : describe()
      const reason = last instanceof Error ? `; the last look failed: ${last.message}` : ''
      throw new Error(`waited ${timeout / 1000} s for ${what}${reason}`, { cause: last })
    }
    await delay(interval)
  }
}
