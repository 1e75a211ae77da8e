import { pause } from './pause.ts'

const MIN_DELAY_MS = 5_000
const MAX_DELAY_MS = 30_000

/**
 * Requests one byte of a rejected file repeatedly. Resolves with true as soon as the server returns
 * it, and with false when the signal aborts.
 */
export async function watchFile(address: string, signal: AbortSignal): Promise<boolean> {
  for (let delay = MIN_DELAY_MS; !signal.aborted; delay = Math.min(MAX_DELAY_MS, 1.5 * delay)) {
    await pause(delay, signal)
    try {
      const response = await fetch(address, { headers: { range: 'bytes=0-0' }, cache: 'no-store', signal })
      await response.body?.cancel()
      if (response.ok) return true
    } catch {
      // No response: the next request follows after the delay.
    }
  }
  return false
}
