import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Logger } from './log.ts'
import { currentTracing } from './trace.ts'

/** Metrics of one process for `/metrics`, each with the label `service`. */
export interface Metrics {
  /** A value that only increases. `collect` is called at each scrape. */
  counter(name: string, help: string, labels?: readonly string[], collect?: (counter: Counter) => Promise<void>): Counter
  /** A value that increases and decreases. `collect` is called at each scrape. */
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void | Promise<void>): Gauge
  /** A histogram of durations in seconds. `buckets` replaces the default buckets. */
  seconds(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): Histogram
  /** Returns all metrics in the text format. */
  text(): Promise<string>
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const metrics: Metrics = {
    counter: (name, help, labels = [], collect) =>
      new Counter({
        name,
        help,
        labelNames: labels,
        registers,
        ...(collect && {
          collect(this: Counter) {
            return collect(this)
          },
        }),
      }),
    gauge: (name, help, labels = [], collect) =>
      new Gauge({
        name,
        help,
        labelNames: labels,
        registers,
        ...(collect && {
          collect(this: Gauge) {
            return collect(this)
          },
        }),
      }),
    seconds: (name, help, labels = [], buckets = DURATION_BUCKETS) =>
      new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers }),
    text: () => registry.metrics(),
  }
  metrics.gauge('vitascope_build_info', 'Version of the running program. The value is 1', ['version']).set({ version }, 1)
  if (currentTracing()) countSpans(metrics)
  return metrics
}

/** Measures the open connections of a server for clients. */
export function observeConnections(metrics: Metrics, server: Server): void {
  const count = promisify(server.getConnections.bind(server))
  metrics.gauge('vitascope_http_connections', 'Open connections of clients', [], async (gauge) => gauge.set(await count()))
}

/** Returns a function that adds a finished request of an object store to the metrics. */
export function observeStorage(metrics: Metrics): (request: { operation: string; outcome: string; seconds: number }) => void {
  const seconds = metrics.seconds(
    'vitascope_storage_request_duration_seconds',
    'Time until the headers of responses of the S3 store, by operation and outcome: ok, missing or failed',
    ['operation', 'outcome'],
  )
  return ({ operation, outcome, seconds: duration }) => seconds.observe({ operation, outcome }, duration)
}

function countSpans(metrics: Metrics): void {
  metrics.counter(
    'vitascope_trace_spans_total',
    'Spans that ended, by outcome: exported, failed (the receiver did not accept them), dropped (the queue was full)',
    ['outcome'],
    async (total) => {
      total.reset()
      for (const [outcome, count] of (await currentTracing()?.countSpans()) ?? []) total.inc({ outcome }, count)
    },
  )
}

/**
 * Serves `/metrics`, `/healthz` (200 while this process responds) and `/readyz` (200 or 503 according to `isReady`)
 * on a separate address. Returns the bound port and a function that closes the server.
 */
export async function serveMetrics(
  metrics: Metrics,
  listen: { host: string; port: number },
  log: Logger,
  isReady: () => boolean | Promise<boolean> = () => true,
): Promise<{ port: number; close: () => Promise<void> }> {
  const pages: Record<string, () => Promise<[status: number, type: string, text: string]>> = {
    '/metrics': async () => [200, 'text/plain; version=0.0.4; charset=utf-8', await metrics.text()],
    '/healthz': async () => [200, 'text/plain', 'ok\n'],
    '/readyz': async () => ((await isReady()) ? [200, 'text/plain', 'ready\n'] : [503, 'text/plain', 'not ready\n']),
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (!page) {
      response.writeHead(404).end()
      return
    }
    page().then(
      ([status, type, text]) => response.writeHead(status, { 'content-type': type }).end(text),
      (error: unknown) => {
        log.error({ err: error }, `${path} failed`)
        response.writeHead(500).end()
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : listen.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
