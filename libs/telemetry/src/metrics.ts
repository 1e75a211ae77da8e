import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Logger } from './log.ts'

/** The numbers that one process shows on `/metrics`, each with the label `service`. */
export interface Metrics {
  /** Something that only grows. */
  counter(name: string, help: string, labels?: readonly string[]): Counter
  /** Something that goes up and down; `collect` is asked at each scrape. */
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void | Promise<void>): Gauge
  /** How long something takes, in seconds. */
  seconds(name: string, help: string, labels?: readonly string[]): Histogram
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
    seconds: (name, help, labels = []) => new Histogram({ name, help, labelNames: labels, buckets: DURATION_BUCKETS, registers }),
    text: () => registry.metrics(),
  }
}

/** Serves `/metrics` on its own address; returns the address bound and how to stop. */
export async function serveMetrics(
  metrics: Metrics,
  listen: { host: string; port: number },
  log: Logger,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'metrics failed')
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
