/** A named place in the work at which a test may let the process die as by `kill -9`. */
export type CrashPoint =
  | 'fetch-began'
  | 'fetch-stored'
  | 'fetch-recorded'
  | 'probe-recorded'
  | 'chunk-recorded'
  | 'publish-undecided'
  | 'publish-recorded'
  | 'report-sent'

/** Called at each such place. */
export type ReachPoint = (point: CrashPoint) => void

export function crashAt(chosen: string | undefined): ReachPoint {
  return (point) => {
    if (point === chosen) process.kill(process.pid, 'SIGKILL')
  }
}
