import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import { everyAfterDelay } from '@vitascope/process'
import { type DownloadCount, DownloadFile, type DownloadServiceService } from '@vitascope/proto/catalogue/v1/download'
import type { TokenDownload } from '@vitascope/security'
import type { Logger } from '@vitascope/telemetry'

const REPORT_EVERY_MS = 5_000
/** The catalogue accepts this many counts per report. */
const MAX_COUNTS = 1_000

export interface DownloadCounts {
  /** Counts one download. */
  add(videoId: string, download: TokenDownload): void
  /** Sends the last counts and stops. */
  close(): Promise<void>
}

export interface DownloadCountTools {
  client: Pick<Client<typeof DownloadServiceService>, 'reportDownloads'>
  log: Logger
  reportEveryMs?: number
}

/**
 * Counts downloads, and reports them every 5 s. A report that failed is sent again with the same id, so that it counts
 * once. A process that is killed loses the counts since its last report.
 */
export function createDownloadCounts({ client, log, reportEveryMs = REPORT_EVERY_MS }: DownloadCountTools): DownloadCounts {
  const counts = new Map<string, DownloadCount>()
  let pending: { reportId: string; counts: DownloadCount[] } | undefined
  const report = async (signal: AbortSignal): Promise<void> => {
    while (pending !== undefined || counts.size > 0) {
      if (pending === undefined) {
        const batch = [...counts].slice(0, MAX_COUNTS)
        for (const [key] of batch) counts.delete(key)
        pending = { reportId: randomUUID(), counts: batch.map(([, count]) => count) }
      }
      await client.reportDownloads(pending, serviceCall('delivery', pending.reportId, signal))
      pending = undefined
    }
  }
  const stop = new AbortController()
  const reports = everyAfterDelay(report, reportEveryMs, log, stop.signal)
  return {
    add(videoId, download) {
      const file = findFile(download)
      const key = `${videoId} ${file}`
      counts.set(key, { videoId, file, count: (counts.get(key)?.count ?? 0) + 1 })
    },
    async close() {
      stop.abort()
      await reports
      await report(AbortSignal.timeout(2_000)).catch((error: unknown) =>
        log.warn({ err: error }, 'the last downloads could not be counted'),
      )
    },
  }
}

function findFile({ object, path = '' }: TokenDownload): DownloadFile {
  if (object !== undefined) return DownloadFile.DOWNLOAD_FILE_ORIGINAL
  if (path.endsWith('.m4a')) return DownloadFile.DOWNLOAD_FILE_AUDIO
  return path.endsWith('.vtt') || path.endsWith('.zip') ? DownloadFile.DOWNLOAD_FILE_CAPTION : DownloadFile.DOWNLOAD_FILE_MP4
}
