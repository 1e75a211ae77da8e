import { type Reader, readEnvironment } from '@vitascope/config'
import { SAMPLERS, type TraceSettings } from '@vitascope/telemetry'

/**
 * Reads the standard settings of OpenTelemetry. Returns undefined if traces are off, which is the
 * default. The settings that only the exporter reads are validated here.
 */
export function readTraceSettings(env: NodeJS.ProcessEnv): TraceSettings | undefined {
  const read = readEnvironment(env)
  const isDisabled = read.flag('OTEL_SDK_DISABLED', {
    fallback: false,
    description: 'Whether traces are off, whatever the other settings.',
  })
  const isOn = readExporter(read)
  const sampler = read.oneOf('OTEL_TRACES_SAMPLER', {
    words: SAMPLERS,
    fallback: 'parentbased_always_on',
    description: 'Decides which requests are recorded. See [Sampling](../operate/monitor.md#sampling).',
  })
  const ratio = readRatio(read)
  const settings: TraceSettings = {
    sampler,
    ratio,
    clientTracesPerSecond: read.int('VITASCOPE_CLIENT_TRACES_PER_SECOND', {
      fallback: 10,
      min: 0,
      max: 1_000_000,
      description:
        'Requests per second and process that are recorded because the `traceparent` of their client requires it. See [Sampling](../operate/monitor.md#sampling).',
    }),
    headers: read.secret('OTEL_EXPORTER_OTLP_HEADERS', {
      description: 'Headers of requests to the receiver: `name=value` pairs separated by commas, with percent-encoded values.',
    }),
    scheduleDelayMs: read.int('OTEL_BSP_SCHEDULE_DELAY', {
      fallback: 1_000,
      min: 1,
      max: 60_000,
      description: 'Maximum time in ms before ended spans are sent.',
    }),
    maxQueueSize: read.int('OTEL_BSP_MAX_QUEUE_SIZE', {
      fallback: 2_048,
      min: 1,
      max: 1_000_000,
      description: 'Ended spans that wait to be sent. Further ones are dropped.',
    }),
    maxBatchSize: read.int('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', {
      fallback: 512,
      min: 1,
      max: 1_000_000,
      description: 'Maximum number of spans in a request to the receiver.',
    }),
  }
  readNames(read)
  read.check()
  return isOn && !isDisabled ? settings : undefined
}

/** Returns whether the settings name a receiver. */
function readExporter(read: Reader): boolean {
  const exporter = read.optional('OTEL_TRACES_EXPORTER', {
    defaultText: '`otlp` with an endpoint, else `none`',
    description: '`otlp` to send traces, or `none`. See [Traces](../operate/monitor.md#traces).',
  })
  if (exporter !== undefined && exporter !== 'otlp' && exporter !== 'none') {
    read.addProblem(`OTEL_TRACES_EXPORTER must be otlp or none, not "${exporter}"`)
  }
  const protocols = ['http:', 'https:']
  const endpoints = [
    read.url('OTEL_EXPORTER_OTLP_ENDPOINT', { protocols, description: 'URL of the receiver, without `/v1/traces`.' }),
    read.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', { protocols, description: 'Complete URL of the receiver.' }),
  ]
  read.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', {
    words: ['http/protobuf'],
    fallback: 'http/protobuf',
    description: 'Protocol of the receiver.',
  })
  read.int('OTEL_EXPORTER_OTLP_TIMEOUT', {
    fallback: 10_000,
    min: 1,
    max: 600_000,
    description: 'Time limit of a request to the receiver in ms.',
  })
  read.oneOf('OTEL_EXPORTER_OTLP_COMPRESSION', {
    words: ['none', 'gzip'],
    fallback: 'none',
    description: 'Compression of requests to the receiver.',
  })
  read.optional('OTEL_EXPORTER_OTLP_CERTIFICATE', { description: 'File with the certificates (PEM) that verify the receiver.' })
  return exporter === 'otlp' || (exporter === undefined && endpoints.some((endpoint) => endpoint !== undefined))
}

function readRatio(read: Reader): number {
  const text = read.optional('OTEL_TRACES_SAMPLER_ARG', {
    defaultText: '1',
    description: 'Share of the requests, 0 to 1, that the samplers with `traceidratio` record.',
  })
  const ratio = text === undefined ? 1 : Number(text)
  if (!(ratio >= 0 && ratio <= 1)) read.addProblem(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${text}"`)
  return ratio
}

function readNames(read: Reader): void {
  read.optional('OTEL_SERVICE_NAME', {
    defaultText: 'the name of the process, such as `catalogue`',
    description: 'Value of `service.name`. Use it for processes that run apart only.',
  })
  read.optional('OTEL_RESOURCE_ATTRIBUTES', {
    description: 'Further attributes of all spans of the process, such as `deployment.environment.name=production`.',
  })
}
