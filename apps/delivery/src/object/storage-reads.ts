import { createPiecewiseReads, DEFAULT_PIECEWISE_BOUNDS, type ObjectStorage, type PiecewiseReads } from '@vitascope/storage'
import type { Metrics } from '@vitascope/telemetry'

/** Creates the piecewise bucket reads for clients, with their metrics. */
export function createStorageReads(storage: ObjectStorage, maxRequests: number, metrics: Metrics): PiecewiseReads {
  const rejected = metrics.counter(
    'vitascope_delivery_storage_reads_rejected_total',
    'Reads of the object store that were rejected because they waited too long',
  )
  const reads = createPiecewiseReads(storage, { ...DEFAULT_PIECEWISE_BOUNDS, maxRequests }, () => rejected.inc())
  metrics.gauge('vitascope_delivery_storage_reads', 'Reads of the object store, by state: active or waiting', ['state'], (gauge) => {
    const { active, waiting } = reads.state()
    gauge.set({ state: 'active' }, active)
    gauge.set({ state: 'waiting' }, waiting)
  })
  metrics.gauge('vitascope_delivery_storage_reads_limit', 'Maximum number of concurrent reads of the object store', [], (gauge) =>
    gauge.set(maxRequests),
  )
  metrics.gauge(
    'vitascope_delivery_storage_held_bytes',
    'Bytes that were read from the object store and not yet sent to viewers',
    [],
    (gauge) => gauge.set(reads.state().bufferedBytes),
  )
  return reads
}
