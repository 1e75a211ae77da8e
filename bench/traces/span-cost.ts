import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { createLogger, startTracing, traced, tracedListener } from '@vitascope/telemetry'
import type { Ratio } from '../ratio.ts'

const REQUESTS = 50_000
const BATCH = 100
const ROUNDS = 5
/** Time until the spans of a round are sent. */
const SEND_MS = 2_000

/**
 * Returns the CPU time in µs that tracing adds to a request with this number of statements, in this
 * process: the fastest, the median and the slowest round. It includes sending.
 */
export async function measureSpanCost(endpoint: string, { ratio, statements }: { ratio: number; statements: number }): Promise<Ratio> {
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint
  const log = createLogger({ service: 'bench', level: 'error' })
  const settings = { clientTracesPerSecond: 0, headers: undefined, scheduleDelayMs: 500, maxQueueSize: 1_000_000, maxBatchSize: 512 }
  const costs: number[] = []
  const listener = createListener(statements)
  for (let round = 0; round <= ROUNDS; round++) {
    const plain = await runRequests(listener)
    const stop = await startTracing('bench', { sampler: 'parentbased_traceidratio', ratio, ...settings }, log)
    const cost = (await runRequests(listener, SEND_MS)) - plain
    await stop()
    // The first round is not counted, because the functions are not compiled yet.
    if (round > 0) costs.push(cost)
  }
  costs.sort((a, b) => a - b)
  return { low: costs[0] ?? Number.NaN, median: costs[Math.floor(ROUNDS / 2)] ?? Number.NaN, high: costs.at(-1) ?? Number.NaN }
}

type Listener = ReturnType<typeof createListener>

function createListener(statements: number) {
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': 'select', 'db.collection.name': 'video' } as const
  const respond = async (response: ServerResponse) => {
    for (let nth = 0; nth < statements; nth++) {
      await traced(
        () => ({ name: 'select video', kind: 'client', attributes }),
        async () => {},
      )
    }
    response.emit('close')
  }
  return tracedListener(
    (_request, response) => void respond(response),
    () => '/v2/video/:id',
  )
}

/** Returns the CPU time of a request in µs. */
async function runRequests(listener: Listener, restMs = 0): Promise<number> {
  const request = { method: 'GET', headers: {} } as IncomingMessage
  const before = process.cpuUsage()
  for (let done = 0; done < REQUESTS; done++) {
    // A response is an event emitter, of which the listener uses only the status.
    listener(request, Object.assign(new EventEmitter(), { statusCode: 200, writableFinished: true }) as unknown as ServerResponse)
    if (done % BATCH === 0) await turn()
  }
  await delay(restMs)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}
