import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { getContentLength } from './response-headers.ts'
import { networkFault, SourceError } from './source-error.ts'

export interface BodyLimits {
  maxBytes: number
  /** Minimum rate of the source; there is none by default. */
  minBytesPerSecond?: number
  /**
   * Period in ms over which the rate is measured; 30,000 by default. Only time spent waiting for
   * the source counts, not time spent waiting for the reader.
   */
  rateWindowMs?: number
}

const CHECKS_PER_WINDOW = 10

/**
 * Returns the body of a response with limits applied. The body ends after its last byte, or fails
 * with a `SourceError` or the signal's reason.
 */
export function guardedBody(result: IncomingMessage, host: string, limits: BodyLimits, signal: AbortSignal): Readable {
  const announced = getContentLength(result.headers)
  let bytes = 0
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limits.maxBytes) done(tooLarge(limits.maxBytes))
      else done(null, chunk)
    },
    flush(done) {
      done(announced !== undefined && bytes !== announced ? cutShort(host) : null)
    },
  })
  const stopWatching = watchRate(body, () => bytes, host, limits)
  const onAbort = () => body.destroy(toAbortError(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  body.once('close', () => {
    stopWatching()
    signal.removeEventListener('abort', onAbort)
    result.destroy()
  })
  result.once('error', (error) => body.destroy(signal.aborted ? toAbortError(signal) : networkFault(host, error)))
  result.once('close', () => {
    if (!result.complete) body.destroy(cutShort(host))
  })
  // A body that fails before it has a reader must not end the process. A later reader gets the
  // error.
  body.on('error', () => {})
  return result.pipe(body)
}

export function tooLarge(maxBytes: number): SourceError {
  return new SourceError(4003, `the source is larger than ${maxBytes} bytes`)
}

function cutShort(host: string): SourceError {
  return new SourceError(4001, `${host} closed the connection before the end of the body`, { transient: true })
}

/** Fails the body if the source sends too slowly. Returns a function that ends the check. */
function watchRate(body: Transform, count: () => number, host: string, { minBytesPerSecond = 0, rateWindowMs = 30_000 }: BodyLimits) {
  if (minBytesPerSecond <= 0) return () => {}
  const tickMs = Math.ceil(rateWindowMs / CHECKS_PER_WINDOW)
  let ticks = 0
  let bytesBefore = 0
  const timer = setInterval(() => {
    // While the reader's buffer is full, no data can arrive.
    if (body.readableLength >= body.readableHighWaterMark) return
    if (++ticks < CHECKS_PER_WINDOW) return
    const rate = ((count() - bytesBefore) * 1000) / rateWindowMs
    if (rate < minBytesPerSecond) body.destroy(new SourceError(4001, `${host} sends less than ${minBytesPerSecond} bytes a second`))
    ticks = 0
    bytesBefore = count()
  }, tickMs)
  return () => clearInterval(timer)
}

function toAbortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError')
}
