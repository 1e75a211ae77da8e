import { writeSync } from 'node:fs'

const STDOUT = 1
/**
 * Maximum time that a stalled reader may block this process. After it, lines are dropped immediately until the reader
 * continues.
 */
const TIMEOUT_MS = 2_000
const PAUSE_MS = 10

/**
 * Returns a destination that writes each line synchronously, so that the last lines before an exit are not lost. A
 * line that cannot be written is dropped: if the reader has ended or the disk is full, the process must continue and be
 * able to exit. (pino's own destination retries a fatal line on a broken pipe forever.)
 */
export function standardOutput(): { write(line: string): void } {
  let remainingMs = TIMEOUT_MS
  return {
    write(line) {
      const bytes = Buffer.from(line)
      for (let written = 0; written < bytes.length; ) {
        try {
          written += writeSync(STDOUT, bytes, written)
          remainingMs = TIMEOUT_MS
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || remainingMs <= 0) return
          remainingMs -= PAUSE_MS
          pause(PAUSE_MS)
        }
      }
    },
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
