import { createTransferLimiter, type TransferLimiter } from '@vitascope/process'
import type { Metrics } from '@vitascope/telemetry'

/** Maximum number of concurrent transfers per client address (for IPv6: per /48) and in total. */
export interface TransferSettings {
  perAddress: number
  total: number
}

/** A phone with a weak signal sends 8 KiB/s. */
export const MIN_BYTES_PER_SECOND = 8 * 1024
/**
 * Grace period of an upload before the minimum rate applies, equal to the time limit for other
 * bodies.
 */
const UPLOAD_GRACE_SECONDS = 13
/**
 * Grace period of a download before the minimum rate applies. A paused player reads nothing for a
 * while. If it is disconnected, it requests the rest with a range.
 */
const DOWNLOAD_GRACE_SECONDS = 60
/** Maximum pause that earlier fast bytes allow, in seconds. */
const MAX_PAUSE_SECONDS = 60

/**
 * Creates the limits for request bodies that are proxied to encoding, and for files that are
 * proxied to clients.
 */
export function createTransferLimits(
  settings: { uploads: TransferSettings; downloads: TransferSettings },
  metrics: Metrics,
): { uploads: TransferLimiter; downloads: TransferLimiter } {
  const cuts = metrics.counter(
    'vitascope_gateway_transfers_cut_total',
    'Uploads and downloads that were cut, by reason: slower than the minimum rate, or replaced by a newer one',
    ['direction', 'reason'],
  )
  const createLimiter = (direction: 'upload' | 'download', { perAddress, total }: TransferSettings, graceSeconds: number) =>
    createTransferLimiter(
      {
        maxPerClient: perAddress,
        maxTotal: total,
        minBytesPerSecond: MIN_BYTES_PER_SECOND,
        graceSeconds,
        maxCreditSeconds: MAX_PAUSE_SECONDS,
      },
      { onCut: (reason) => cuts.inc({ direction, reason }) },
    )
  const uploads = createLimiter('upload', settings.uploads, UPLOAD_GRACE_SECONDS)
  const downloads = createLimiter('download', settings.downloads, DOWNLOAD_GRACE_SECONDS)
  metrics.gauge('vitascope_gateway_transfers', 'Active uploads and downloads', ['direction'], (gauge) => {
    gauge.set({ direction: 'upload' }, uploads.size())
    gauge.set({ direction: 'download' }, downloads.size())
  })
  return { uploads, downloads }
}
