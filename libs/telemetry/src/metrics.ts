import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Logger } from './log.ts'

/** The numbers that one process shows on `/metrics`, each with the label `service`. */
export interface Metrics {
  /** Something that only grows. */
  counter(name: string, help: string, labels?: readonly string[]): Counter
  /** Something that goes up and down; `collect` is asked at each scrape. */
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void | Promise<void>): Gauge
  /** How long something takes, in seconds; `buckets` where its own bounds say more than the usual ones. */
  seconds(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): Histogram
  /** The text form of all of them. */
  text(): Promise<string>
}

const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers }),
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
}

/**
 * Serves what operators and probes ask on an address of its own: `/metrics`, `/healthz` (200 as long as this process answers) and `/readyz`
 * (200 or 503, as `isReady` says). Returns the port bound and how to stop.
 */
export async function serveMetrics(
  metrics: Metrics,
  listen: { host: string; port: number },
  log: Logger,
  isReady: () => boolean | Promise<boolean> = () => true,
): Promise<{ port: number; close: () => Promise<void> }> {
  const answers: Record<string, () => Promise<[status: number, type: string, text: string]>> = {
    '/metrics': async () => [200, 'text/plain; version=0.0.4; charset=utf-8', await metrics.text()],
    '/healthz': async () => [200, 'text/plain', 'ok\n'],
    '/readyz': async () => ((await isReady()) ? [200, 'text/plain', 'ready\n'] : [503, 'text/plain', 'not ready\n']),
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (!answer) {
      response.writeHead(404).end()
      return
    }
    answer().then(
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
