import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { findProgram } from './programs.ts'
import { builtProgramsDir } from './s3.ts'
import { waitFor } from './wait-for.ts'

/** Returns the path of the OpenTelemetry Collector of `test/collector`, or undefined if it is not built. */
export function collectorPath(): string | undefined {
  return findProgram(['vitascope-collector'], [builtProgramsDir])
}

/** A span as the collector received it. */
export interface ReceivedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  /** Empty for a root. */
  parentSpanId: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  startTime: bigint
  endTime: bigint
  attributes: Record<string, string | number | boolean>
  isError: boolean
}

/** An OpenTelemetry Collector that receives OTLP over HTTP. */
export interface TestCollector {
  /** Value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  endpoint: string
  /** Returns all received spans. */
  spans(): Promise<ReceivedSpan[]>
  /** Returns everything that was received, as text. */
  text(): Promise<string>
  stop(): Promise<void>
}

/** Starts a collector; requires `collectorPath()`. */
export async function startCollector(): Promise<TestCollector> {
  const program = collectorPath()
  if (program === undefined) throw new Error('the collector is not built')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-collector-'))
  const [config, output] = [join(folder, 'config.yaml'), join(folder, 'traces.json')]
  const port = await freePort()
  await writeFile(config, JSON.stringify(collectorConfig(port, output)))
  const child = spawn(program, ['--config', `file:${config}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const exited = once(child, 'exit')
  const endpoint = `http://127.0.0.1:${port}`
  const responds = async () => {
    if (child.exitCode !== null) throw new Error(`the collector ended: ${errors}`)
    return fetch(endpoint).then(
      () => true,
      () => false,
    )
  }
  await waitFor(responds, { timeout: 20_000, describe: 'the collector to respond' })
  const text = () => readFile(output, 'utf8')
  return {
    endpoint,
    text,
    spans: async () => readSpans(await text()),
    async stop() {
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function collectorConfig(port: number, output: string): object {
  return {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { file: { path: output, flush_interval: '100ms' } },
    service: {
      telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } },
    },
  }
}

/** OTLP in JSON, as far as the tests use it. */
interface ExportedTraces {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { spans: ExportedSpan[] }[]
  }[]
}

interface ExportedSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: Attribute[]
  status?: { code?: number }
}

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean }
}

const STATUS_ERROR = 2

/** Parses the lines of the file. The last line may be incomplete. */
function readSpans(text: string): ReceivedSpan[] {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
  return lines
    .filter((line) => line !== '')
    .flatMap((line) => (JSON.parse(line) as ExportedTraces).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const service = String(readAttributes(resource.attributes)['service.name'])
      return scopeSpans.flatMap(({ spans }) => spans.map((span) => toReceivedSpan(service, span)))
    })
}

function toReceivedSpan(service: string, span: ExportedSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId = '', kind } = span
  return {
    ...{ service, name, traceId, spanId, parentSpanId, kind },
    startTime: BigInt(span.startTimeUnixNano),
    endTime: BigInt(span.endTimeUnixNano),
    attributes: readAttributes(span.attributes),
    isError: span.status?.code === STATUS_ERROR,
  }
}

function readAttributes(attributes: readonly Attribute[] = []): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? '',
    ]),
  )
}
