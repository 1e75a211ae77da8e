import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Receives the changes of one key file. */
export interface KeyFileReports {
  /** Called when the keys of the file are in use after a change or a problem. */
  onChange(): void
  /** Called when the content of the file cannot be used, so that the previous keys stay in use. */
  onProblem(error: unknown): void
}

/** Returns a function that returns the reports of a key file: they log and count its changes. `file` is its name in the metrics. */
export function createKeyFileReports({ log, metrics }: { log: Logger; metrics: Metrics }): (file: string) => KeyFileReports {
  const changes = metrics.counter('vitascope_key_file_changes_total', 'Reloads of changed key files', ['file'])
  const rejected = metrics.counter('vitascope_key_file_rejected_changes_total', 'Changed key files that were invalid and ignored', ['file'])
  const isRejected = metrics.gauge(
    'vitascope_key_file_rejected',
    '1 while the content of a key file cannot be used, so that the previous keys are in use, otherwise 0',
    ['file'],
  )
  return (file) => {
    changes.inc({ file }, 0)
    rejected.inc({ file }, 0)
    isRejected.set({ file }, 0)
    return {
      onChange() {
        changes.inc({ file })
        isRejected.set({ file }, 0)
        log.info({ file }, 'key file changed; using its keys')
      },
      onProblem(error) {
        rejected.inc({ file })
        isRejected.set({ file }, 1)
        log.error({ file, err: error }, 'loading a changed key file failed; using the previous keys')
      },
    }
  }
}
