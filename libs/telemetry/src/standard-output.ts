import { writeSync } from 'node:fs'

const STDOUT = 1
/** How long a reader that stands still may hold up this process; until it reads again, lines are dropped at once. */
const PATIENCE_MS = 2_000
const PAUSE_MS = 10

/**
 * Writes each line before the next statement runs, so that the last words before an end are said. A line that cannot be written is
 * dropped: when whoever reads them is gone, or the disk below is full, the work must go on and an end must come.
 * (pino's own destination tries for ever to flush a fatal line into a broken pipe.)
 */
export function standardOutput(): { write(line: string): void } {
  let patience = PATIENCE_MS
  return {
    write(line) {
      const bytes = Buffer.from(line)
      for (let written = 0; written < bytes.length; ) {
        try {
          written += writeSync(STDOUT, bytes, written)
          patience = PATIENCE_MS
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || patience <= 0) return
          patience -= PAUSE_MS
          pause(PAUSE_MS)
        }
      }
    },
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
