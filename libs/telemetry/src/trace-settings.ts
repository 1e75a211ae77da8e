export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** Settings of the traces of a process. The exporter reads further `OTEL_EXPORTER_OTLP_…` variables itself. */
export interface TraceSettings {
  sampler: (typeof SAMPLERS)[number]
  /** Share of the traces that are recorded, 0 to 1, with `traceidratio` and `parentbased_traceidratio`. */
  ratio: number
  /** Requests per second whose client may decide that they are recorded. */
  clientTracesPerSecond: number
  /** `OTEL_EXPORTER_OTLP_HEADERS`. */
  headers: string | undefined
  scheduleDelayMs: number
  maxQueueSize: number
  maxBatchSize: number
}
