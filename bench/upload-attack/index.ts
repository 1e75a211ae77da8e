import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { residentMib } from '../../e2e/support/resident-memory.ts'
import { startTestPlatform } from '../../e2e/support/test-platform.ts'
import { uploadByForm, uploadByTus } from '../../e2e/support/timed-uploads.ts'
import { createTenant } from '../../e2e/support/video-steps.ts'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { startAttack } from './hostile.ts'

const MAX_GROWTH_MIB = 64
/** Address of the client that is not part of the attack. */
const GOOD_ADDRESS = '203.0.113.7'
const FILE_BYTES = 4 * 1024 * 1024

/**
 * Measures uploads of one client without and during an attack by upload forms, and the memory of
 * encoding.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      connections: { type: 'string', default: '1000' },
      addresses: { type: 'string', default: '40' },
      seconds: { type: 'string', default: '60' },
      'reconnect-ms': { type: 'string' },
    },
  })
  const [connections, addresses, seconds] = [values.connections, values.addresses, values.seconds].map(Number)
  if (!connections || !addresses || !seconds) throw new Error('every option must be a number above 0')
  const platform = await startTestPlatform({ VITASCOPE_TRUST_PROXY: '127.0.0.1' })
  endOnSignal(() => platform.remove())
  try {
    const tenant = await createTenant(platform.system)
    const file = new Uint8Array(FILE_BYTES)
    const uploadSteps = () => [
      () => uploadByForm(platform, tenant, file, GOOD_ADDRESS),
      () => uploadByTus(platform, tenant, file, GOOD_ADDRESS),
    ]
    const measure = async (forSeconds: number, onRound: () => void) => {
      const times: [number[], number[]] = [[], []]
      let failures = 0
      for (const until = Date.now() + forSeconds * 1_000; Date.now() < until; await delay(200)) {
        for (const [index, upload] of uploadSteps().entries()) {
          try {
            times[index]?.push(await upload())
          } catch (error) {
            failures += 1
            if (failures <= 3) console.log(error instanceof Error ? error.message : String(error))
          }
        }
        onRound()
      }
      return { times, failures }
    }
    const undisturbed = await measure(10, () => {})
    const before = { encoding: residentMib(platform, 'encoding'), gateway: residentMib(platform, 'gateway') }
    console.log(`without an attack: ${formatUploads(undisturbed)}; encoding ${before.encoding} MiB, gateway ${before.gateway} MiB`)
    const attack = startAttack(platform.url, {
      connections,
      addresses,
      reconnectMs: values['reconnect-ms'] === undefined ? undefined : Number(values['reconnect-ms']),
    })
    const max = { ...before }
    const sample = setInterval(() => {
      for (const name of ['encoding', 'gateway'] as const) max[name] = Math.max(max[name], residentMib(platform, name))
    }, 250)
    await delay(2_000)
    const during = await measure(seconds, () => {})
    clearInterval(sample)
    console.log(
      `${connections} hostile connections from ${addresses} addresses for ${seconds} s: ${formatUploads(during)}; opened ${attack.opened()}, open at the end ${attack.open()}, responses ${JSON.stringify(attack.statusCounts())}`,
    )
    attack.stop()
    const growth = max.encoding - before.encoding
    console.log(`highest RSS: encoding ${max.encoding} MiB (+${growth}), gateway ${max.gateway} MiB (+${max.gateway - before.gateway})`)
    if (during.times.some((list) => list.length === 0)) throw new Error('no upload ended during the attack')
    report({ row: 'memory', title: 'growth of encoding', unit: 'MiB', value: singleValue(growth), goal: { atMost: MAX_GROWTH_MIB } })
    report({
      row: 'failures',
      title: 'failed uploads of others',
      unit: 'uploads',
      value: singleValue(during.failures),
      goal: { atMost: 0 },
    })
  } finally {
    await platform.remove()
  }
}

function formatUploads({ times, failures }: { times: number[][]; failures: number }): string {
  const [form = [], tus = []] = times
  return `form ${quantiles(form)}, tus ${quantiles(tus)}, ${failures} failed`
}

function quantiles(list: number[]): string {
  const sorted = list.toSorted((a, b) => a - b)
  const percentile = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
  return `${sorted.length} uploads, median ${percentile(0.5)} ms, p95 ${percentile(0.95)} ms, slowest ${percentile(1)} ms`
}
