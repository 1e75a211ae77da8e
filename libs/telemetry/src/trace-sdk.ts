import { context, ROOT_CONTEXT, type SpanContext, SpanKind, TraceFlags, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { parseKeyPairsIntoRecord, parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from './log.ts'
import type { SpanOutcome, Tracing } from './trace.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Interval in ms of the log lines about spans that could not be sent. */
const FAILURE_LOG_MS = 60_000

/** Creates the tracing of a process by the SDK of OpenTelemetry. */
export function createSdk(service: string, settings: TraceSettings, log: Logger): { tracing: Tracing; shutDown: () => Promise<void> } {
  logFailures(log)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  const reader = new ScrapeReader()
  const headers = settings.headers === undefined ? {} : parseKeyPairsIntoRecord(settings.headers)
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ headers }),
    maxQueueSize: settings.maxQueueSize,
    maxExportBatchSize: Math.min(settings.maxBatchSize, settings.maxQueueSize),
    scheduledDelayMillis: settings.scheduleDelayMs,
    selfObsMeterProvider: new MeterProvider({ readers: [reader] }),
  })
  const provider = new TracerProvider({
    // `admit` decides about the root of a trace, and all other spans follow its decision.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.namespace': 'vitascope', 'service.name': service }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [processor],
  })
  return {
    tracing: {
      tracer: provider.getTracer('vitascope'),
      admit: createAdmission(settings),
      resume(traceparent) {
        const remote = parseTraceParent(traceparent)
        return remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : undefined
      },
      countSpans: () => countSpans(reader),
    },
    // A failure is already logged and counted.
    shutDown: () => provider.shutdown().catch(() => {}),
  }
}

/**
 * Returns the function that decides which requests are recorded. A client's `traceparent` is
 * continued. Its flag decides with the samplers `parentbased_…`, but it can cause at most
 * `clientTracesPerSecond` records. All other decisions are by a random number that no client can
 * choose.
 */
function createAdmission(settings: TraceSettings): Tracing['admit'] {
  const isParentBased = settings.sampler.startsWith('parentbased_')
  const sampler = rootSampler(settings)
  const ids = new RandomIdGenerator()
  const hasBudget = createBudget(settings.clientTracesPerSecond)
  const decide = () =>
    sampler.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), '', SpanKind.SERVER, {}, []).decision === SamplingDecision.RECORD_AND_SAMPLED
  const decideFor = ({ traceFlags }: SpanContext) => {
    if (!isParentBased) return decide()
    return (traceFlags & TraceFlags.SAMPLED) !== 0 && (hasBudget() || decide())
  }
  return (traceparent) => {
    const remote = traceparent === undefined ? null : parseTraceParent(traceparent)
    if (!remote || !trace.isSpanContextValid(remote)) return decide() ? { parent: ROOT_CONTEXT, isSampled: true } : undefined
    const isSampled = decideFor(remote)
    const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
    return { parent: trace.setSpanContext(ROOT_CONTEXT, { ...remote, traceFlags, isRemote: true }), isSampled }
  }
}

function rootSampler({ sampler, ratio }: TraceSettings): Sampler {
  if (sampler.endsWith('always_on')) return new AlwaysOnSampler()
  return sampler.endsWith('always_off') ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio)
}

/** Returns a function that returns true up to `perSecond` times in each second. */
function createBudget(perSecond: number): () => boolean {
  let second = 0
  let used = 0
  return () => {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) [second, used] = [now, 0]
    return used++ < perSecond
  }
}

/** Reads the metrics of the SDK when `/metrics` is scraped. */
class ScrapeReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

const PROCESSED_SPANS = 'otel.sdk.processor.span.processed'

async function countSpans(reader: MetricReader): Promise<Map<SpanOutcome, number>> {
  const counts = new Map<SpanOutcome, number>([
    ['exported', 0],
    ['failed', 0],
    ['dropped', 0],
  ])
  const { resourceMetrics } = await reader.collect()
  const processed = resourceMetrics.scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .flatMap((metric) =>
      metric.dataPointType === DataPointType.SUM && metric.descriptor.name === PROCESSED_SPANS ? metric.dataPoints : [],
    )
  for (const { attributes, value } of processed) {
    const error = attributes['error.type']
    const outcome = error === undefined ? 'exported' : error === 'queue_full' ? 'dropped' : 'failed'
    counts.set(outcome, (counts.get(outcome) ?? 0) + value)
  }
  return counts
}

function logFailures(log: Logger): void {
  let loggedAt = Number.NEGATIVE_INFINITY
  setGlobalErrorHandler((error) => {
    if (performance.now() - loggedAt < FAILURE_LOG_MS) return
    loggedAt = performance.now()
    log.warn({ reason: error instanceof Error ? error.message : error }, 'sending spans failed; they are dropped')
  })
}
