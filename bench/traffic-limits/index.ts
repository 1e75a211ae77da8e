import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createUnknownIds, DEFAULT_LIMITS, type Limits, limitViewerPaths } from '@vitascope/rate-limit'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { createTrafficLimits, type TrafficRequest } from '../../apps/delivery/src/traffic/traffic-limits.ts'
import { type ReportFigure, singleValue } from '../figure.ts'

const GOAL_MICROSECONDS = 20
const GOAL_MIB = 64
const ROUNDS = 9
/** Requests that are active at the same time. */
const BATCH = 64

/** Measures the time that the limits of requests and traffic add to a request for a file, and their memory after many addresses. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({ args, options: { addresses: { type: 'string', default: '1000000' } } })
  const addresses = Number(values.addresses)
  if (!addresses) throw new Error('--addresses must be a number above 0')
  const requests = Math.floor(addresses / ROUNDS)
  const limited = createServer(DEFAULT_LIMITS)
  const unlimited = createServer('off')
  await run(limited, { first: -10_000, count: 10_000 })
  await run(unlimited, { first: -10_000, count: 10_000 })
  const before = readHeapMib()
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const range = { first: round * requests, count: requests }
    const control = await run(unlimited, range)
    costs.push(((await run(limited, range)) - control) / requests)
  }
  const mib = readHeapMib() - before
  costs.sort((a, b) => a - b)
  const [low = Number.NaN, median = Number.NaN, high = Number.NaN] = [costs[0], costs[Math.floor(ROUNDS / 2)], costs.at(-1)]
  report({
    ...{ row: 'request', title: 'limits of a request for a file, more than without limits', unit: 'µs' },
    ...{ value: { median, low, high }, goal: { atMost: GOAL_MICROSECONDS } },
  })
  report({
    ...{ row: 'memory', title: `memory of the limits after ${requests * ROUNDS} addresses`, unit: 'MiB' },
    ...{ value: singleValue(mib), goal: { atMost: GOAL_MIB } },
  })
  limited.close()
}

interface Server {
  listener: (request: IncomingMessage, response: ServerResponse) => void
  close(): void
}

/** Creates the limits of delivery in front of a handler that sends nothing. */
function createServer(limits: Limits | 'off'): Server {
  const log = createLogger({ service: 'bench', level: 'error' })
  const traffic = createTrafficLimits(limits, createMetrics('bench'))
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const described: TrafficRequest = {
      ...{
        kind: 'segment',
        address: request.socket.remoteAddress ?? '',
        videoId: '12',
        site: 'example.com',
        isCrawler: false,
        isStart: true,
      },
      tokenName: String(request.socket.remoteAddress),
    }
    if (!traffic.check(described)) traffic.follow(described, response)
  }
  const listener = limitViewerPaths(serve, {
    ...{ limits, unknownIds: createUnknownIds(limits), trustedProxies: [], reject: () => {}, log, metrics: createMetrics('bench') },
  })
  return { listener, close: () => traffic.close() }
}

/** Sends `count` requests, each from its own address. Returns the total time in microseconds. */
async function run({ listener }: Server, { first, count }: { first: number; count: number }): Promise<number> {
  const end = ({ response, socket }: (typeof active)[number]) => {
    socket.bytesWritten = 500_000
    response.emit('close')
  }
  const began = performance.now()
  let active: { response: EventEmitter; socket: { bytesWritten: number } }[] = []
  for (let nth = first; nth < first + count; nth++) {
    const [high, low] = [(nth >>> 16) & 0xffff, nth & 0xffff]
    const socket = { remoteAddress: `2001:${high.toString(16)}:${low.toString(16)}::1`, bytesWritten: 0, writableLength: 0 }
    // Stand-ins with only the members that the limits read.
    const request = { url: '/delivery/12/v1/hls/seg-1.m4s', method: 'GET', headers: {}, socket } as unknown as IncomingMessage
    const response = Object.assign(new EventEmitter(), {
      ...{ req: request, statusCode: 200, headersSent: true, writableFinished: true, destroyed: false },
      destroy: () => {
        throw new Error('the limits failed for a request; see the log')
      },
    })
    listener(request, response as unknown as ServerResponse)
    active.push({ response, socket })
    if (active.length < BATCH) continue
    await turn()
    for (const one of active) end(one)
    active = []
  }
  await turn()
  for (const one of active) end(one)
  return (performance.now() - began) * 1_000
}

function readHeapMib(): number {
  setFlagsFromString('--expose-gc')
  // `gc` exists only in contexts that were created after the flag was set.
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
