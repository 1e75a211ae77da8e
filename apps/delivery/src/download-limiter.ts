import { createTransferLimiter, type TransferLimiter } from '@vitascope/process'
import type { Metrics } from '@vitascope/telemetry'

/** The same rate as at the gateway; a phone with a weak signal reaches it. */
const MIN_BYTES_PER_SECOND = 8 * 1024
/** A paused player reads nothing for a while. After it is disconnected, it requests the rest as a range. */
const GRACE_SECONDS = 60

/**
 * Disconnects clients that read slower than 8 KiB/s, and limits the number of concurrent downloads
 * per client and in total.
 */
export function createDownloadLimiter({ perAddress, total }: { perAddress: number; total: number }, metrics: Metrics): TransferLimiter {
  const cuts = metrics.counter(
    'vitascope_delivery_downloads_cut_total',
    'Downloads that were cut, by reason: the client was slower than the minimum rate, or a newer download replaced it',
    ['reason'],
  )
  const limiter = createTransferLimiter(
    {
      maxPerClient: perAddress,
      maxTotal: total,
      minBytesPerSecond: MIN_BYTES_PER_SECOND,
      graceSeconds: GRACE_SECONDS,
      maxCreditSeconds: GRACE_SECONDS,
    },
    { onCut: (reason) => cuts.inc({ reason }) },
  )
  metrics.gauge('vitascope_delivery_downloads', 'Active downloads', [], (gauge) => gauge.set(limiter.size()))
  return limiter
}
