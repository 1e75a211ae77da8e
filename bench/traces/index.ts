import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { startTestPlatform, type TestPlatform } from '../../e2e/support/test-platform.ts'
import { requestsPerSecond, type WrkOptions } from '../bytes/wrk.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { ReportFigure } from '../figure.ts'
import { type FilledPlatform, startFilledPlatform } from '../overload/filled-platform.ts'
import { cpuSeconds } from '../process-cpu.ts'
import { median, medianRatio } from '../ratio.ts'
import { measureSpanCost } from './span-cost.ts'

/** More connections would be rejected while other programs use the machine. */
const CONNECTIONS = 8
const MAX_OVERHEAD = 1.03
const SIDES = ['traced', 'plain'] as const
type Side = (typeof SIDES)[number]
const PROCESSES = ['gateway', 'auth', 'catalogue']

interface Row {
  row: string
  title: string
  request(side: FilledPlatform): { paths: string[]; headers: Record<string, string> }
}

const ROWS: readonly Row[] = [
  {
    ...{ row: 'guest', title: 'GET /v2/video/{id} without a key' },
    request: ({ filled }) => ({ paths: filled.map(({ videoId }) => `/v2/video/${videoId}`), headers: {} }),
  },
  {
    ...{ row: 'list', title: 'GET /v2/video?limit=20 with a key' },
    request: ({ filled }) => ({
      paths: ['/v2/video?limit=20'],
      headers: { authorization: `Basic ${Buffer.from(`${filled[0]?.keys[0]}:x`).toString('base64')}` },
    }),
  },
]

/**
 * Compares the CPU time of requests of a platform that records 10 % of them with that of the same platform
 * without traces, which is started again for each measurement. CPU time depends less on other load of the machine than rates.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      pairs: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '4' },
      ratio: { type: 'string', default: '0.1' },
      only: { type: 'string' },
    },
  })
  const [pairs, seconds] = [Number(values.pairs), Number(values.seconds)]
  if (!pairs || !seconds || !(Number(values.ratio) > 0)) throw new Error('--pairs, --seconds and --ratio must be numbers above 0')
  const receiver = await startReceiver()
  for (const statements of [0, 8]) {
    report({
      ...{
        row: `spans-${statements + 1}`,
        unit: 'µs',
        value: await measureSpanCost(receiver.url, { ratio: Number(values.ratio), statements }),
      },
      title: `CPU time that traces add to a request with ${statements + 1} spans, ${Number(values.ratio) * 100} % recorded`,
    })
  }
  const common = { VITASCOPE_LIMITS: 'off', VITASCOPE_TRUST_PROXY: '127.0.0.1' }
  const environments: Record<Side, Record<string, string>> = {
    traced: {
      ...common,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: values.ratio,
    },
    plain: common,
  }
  const filled = await startFilledPlatform(20)
  endOnSignal(filled.stop)
  const rows = ROWS.filter(({ row }) => values.only === undefined || values.only === row)
  const measured = rows.map(() => ({ traced: [] as Measurement[], plain: [] as Measurement[] }))
  await filled.platform.stop()
  try {
    for (let pair = 0; pair < pairs; pair++) {
      for (const side of pair % 2 ? SIDES : SIDES.toReversed()) {
        // Two platforms at the same time differ by more than the cost of traces, even if both have none.
        const platform = await startTestPlatform(environments[side], filled.platform.dataDir)
        for (const [nth, { request }] of rows.entries()) {
          const options = { origin: platform.url, ...request(filled), connections: CONNECTIONS }
          // Fills caches, prepares statements and compiles functions.
          await requestsPerSecond({ ...options, seconds })
          measured[nth]?.[side].push(await measure(platform, options, seconds))
        }
        await platform.stop()
      }
    }
    for (const [nth, { row, title }] of rows.entries()) {
      const { traced, plain } = measured[nth] ?? { traced: [], plain: [] }
      const describe = (list: readonly Measurement[]) =>
        `${Math.round(median(list.map(({ microseconds }) => microseconds)))} µs, ${Math.round(median(list.map(({ rate }) => rate)))}/s`
      report({
        ...{ row, title: `CPU time of ${title}, ${Number(values.ratio) * 100} % recorded, against no traces` },
        value: medianRatio(traced.map(({ microseconds }, index) => microseconds / (plain[index]?.microseconds ?? 1))),
        goal: { atMost: MAX_OVERHEAD },
        detail: `traced ${describe(traced)}; plain ${describe(plain)}`,
      })
    }
    if (receiver.requests() === 0) throw new Error('the receiver got no spans')
  } finally {
    await filled.stop()
    receiver.close()
  }
}

interface Measurement {
  rate: number
  /** CPU time of a request in µs. */
  microseconds: number
}

async function measure(platform: TestPlatform, options: Omit<WrkOptions, 'seconds'>, seconds: number): Promise<Measurement> {
  const cpu = () => PROCESSES.map((name) => cpuSeconds(platform.pid(name))).reduce((sum, used) => sum + used, 0)
  const before = cpu()
  const rate = await requestsPerSecond({ ...options, seconds })
  return { rate, microseconds: ((cpu() - before) * 1e6) / (rate * seconds) }
}

/** Starts a receiver that accepts everything and stores nothing. */
async function startReceiver(): Promise<{ url: string; requests(): number; close(): void }> {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
