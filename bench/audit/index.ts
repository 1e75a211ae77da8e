import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startTwoGateways } from '../../e2e/support/two-gateways.ts'
import { createTenant, type Tenant } from '../../e2e/support/video-steps.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { Figure, ReportFigure } from '../figure.ts'
import { type LoadGenerator, type LoadRequest, startLoadGenerator } from '../load-order.ts'
import { median, medianRatio } from '../ratio.ts'

const TENANTS = 8
const WARM_SECONDS = 4

/**
 * Compares writes per second of a gateway with those of the same gateway without its audit log, by
 * one writer and by sixteen. There is no goal.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { pairs: { type: 'string', default: '9' }, seconds: { type: 'string', default: '4' } },
  })
  const [pairs, seconds] = [Math.max(1, Number.parseInt(values.pairs, 10) || 1), Number(values.seconds)]
  if (!(seconds > 0)) throw new Error('--seconds must be a number above 0')
  const platform = await startTwoGateways({}, fileURLToPath(new URL('without-audit.ts', import.meta.url)))
  const generator = startLoadGenerator()
  const end = async () => {
    await generator.stop()
    await platform.remove()
  }
  endOnSignal(end)
  try {
    const tenants: Tenant[] = []
    while (tenants.length < TENANTS) tenants.push(await createTenant(platform.system))
    console.log(`audit: POST /folder, ${pairs} interleaved pairs of ${seconds} s, on a database with synchronous commits`)
    for (const writers of [1, 16]) report(await compare(generator, platform.gateways, tenants, { writers, pairs, seconds }))
  } finally {
    await end()
  }
}

async function compare(
  generator: LoadGenerator,
  gateways: readonly [string, string],
  tenants: readonly Tenant[],
  { writers, pairs, seconds }: { writers: number; pairs: number; seconds: number },
): Promise<Figure> {
  const rates: [number[], number[]] = [[], []]
  const times: [number[], number[]] = [[], []]
  const measureWrites = async (which: 0 | 1, name: string, length = seconds) => {
    const requests = tenants.map((tenant) => newFolder(gateways[which], tenant))
    const figures = await generator.run({ name, requests, seconds: length, connections: writers })
    const done = figures.counts['write 200'] ?? 0
    if (Object.keys(figures.counts).join() !== 'write 200') throw new Error(`not every write succeeded: ${JSON.stringify(figures.counts)}`)
    return { rate: done / figures.seconds, p50: figures.times.write.fromSend.p50 }
  }
  for (const which of [0, 1] as const) await measureWrites(which, `warm ${writers} ${which}`, WARM_SECONDS)
  for (let pair = 0; pair < pairs; pair++) {
    // The order alternates, so that neither side gains from a machine that warms up or slows down.
    for (const which of pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { rate, p50 } = await measureWrites(which, `${writers} ${pair} ${which}`)
      rates[which].push(rate)
      times[which].push(p50)
    }
  }
  const formatResult = ([perSecond, p50s]: [number[], number[]]) => `${median(perSecond).toFixed(0)}/s, p50 ${median(p50s).toFixed(1)} ms`
  return {
    row: `writers-${writers}`,
    title: 'writes with the audit log, against writes without it',
    value: medianRatio(rates[0].map((rate, pair) => rate / (rates[1][pair] ?? rate))),
    detail: `${formatResult([rates[0], times[0]])}; without ${formatResult([rates[1], times[1]])}`,
  }
}

function newFolder(url: string, { key, organisationId }: Tenant): LoadRequest {
  const headers = { authorization: `Bearer ${key}` }
  const body = JSON.stringify({ organisation_id: organisationId, name: 'folder {n}' })
  return { kind: 'write', method: 'POST', url: `${url}/v2/folder`, headers, body }
}
