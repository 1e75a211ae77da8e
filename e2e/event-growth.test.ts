import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { asSuperuser } from './support/database.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload } from './support/video-steps.ts'

/**
 * Megabytes per hour. A window of five minutes, which this attack uses up, has a thirteenth of it.
 */
const EVENT_MB = 65
const WINDOW_BYTES = (EVENT_MB * 1e6) / 13
/** PostgreSQL adds pages to a table before it fills them. */
const GROWTH_TOLERANCE = 1.05
const CONCURRENCY = 8

let platform: TestPlatform
let tenant: Tenant
/** Views are largest for a video of unknown length. */
let videoId: string

beforeAll(async () => {
  const limits = JSON.stringify({ event_mb: EVENT_MB, events: 1_000_000, views: 1_000_000, key: 1_000_000 })
  platform = await startTestPlatform({ VITASCOPE_LIMITS: limits, VITASCOPE_TRUST_PROXY: '127.0.0.1' })
  tenant = await createTenant(platform.system)
  videoId = (await upload(platform.system, tenant.organisationId, 'https://unknown.invalid/video.mp4')).id
}, 240_000)
afterAll(() => platform?.remove())

/** The events of one request: player events, or lines of a CMCD report. */
type Attack = (nth: number) => { events: (object | string)[]; userAgent?: string }
const repeatHundred = <T>(make: (nth: number) => T) => Array.from({ length: 100 }, (_, nth) => make(nth))
const intervals = Array.from({ length: 25 }, (_, nth) => [nth * 2, nth * 2 + 1.5])
const buildEvent = (fields: object = {}) => ({ video_id: videoId, view_id: randomUUID(), type: 'progress', at: Date.now(), ...fields })
const buildLine = (viewId: string, ts: number, rest: string) => `cid="${videoId}",sid="${viewId}",ts=${ts},v=2,${rest}`
const oneView = randomUUID()
const letters = 'abcdefghijklmnopqrstuvwxyz'
const code = (nth: number) => `${letters[Math.floor(nth / 26) % 26]}${letters[nth % 26]}`

const ATTACKS: [what: string, attack: Attack][] = [
  ['new views', () => ({ events: repeatHundred(() => buildEvent()) })],
  [
    'new views with every field of an event',
    () => ({
      events: repeatHundred(() =>
        buildEvent({
          watched: intervals,
          rewatched: intervals,
          position: 1,
          qoe: { startup_ms: 5, stalls: 1, stalled_ms: 3, error: 'x'.repeat(100) },
        }),
      ),
    }),
  ],
  [
    'new views in changing languages',
    (nth) => ({ events: repeatHundred((one) => buildEvent({ language: code(nth * 100 + one), subtitle: code(7 * nth + one) })) }),
  ],
  [
    'views of changing referrers and devices',
    (nth) => ({
      events: repeatHundred((one) => buildEvent({ referrer: `${'x'.repeat(60)}${code(nth * 100 + one)}.${'y'.repeat(60)}.example` })),
      userAgent: ['Mozilla/5.0 (Android 15; Mobile; rv:144.0) Firefox/144.0', 'SMART-TV; Tizen', 'a browser'][nth % 3] ?? '',
    }),
  ],
  [
    'events of one view with changing referrers',
    (nth) => ({ events: repeatHundred((one) => buildEvent({ view_id: oneView, referrer: `${code(nth * 100 + one)}.example` })) }),
  ],
  ['events of one view', () => ({ events: repeatHundred(() => buildEvent({ view_id: oneView })) })],
  [
    'events of one view with all their intervals',
    () => ({ events: Array.from({ length: 4 }, () => buildEvent({ view_id: oneView, watched: Array(1_000).fill([0.001, 1_234.567]) })) }),
  ],
  ['reports of new views', () => ({ events: repeatHundred(() => buildLine(randomUUID(), Date.now(), 'e=ps,sta=p')) })],
  [
    'reports of views with a hundred errors each',
    () => {
      const viewId = randomUUID()
      return { events: repeatHundred((nth) => buildLine(viewId, Date.now() - nth, `e=e,ec=("${'x'.repeat(100)}")`)) }
    },
  ],
  [
    'reports of views with a hundred switches each',
    () => {
      const viewId = randomUUID()
      return { events: repeatHundred((nth) => buildLine(viewId, Date.now() - nth, `e=bc,br=(${nth + 1})`)) }
    },
  ],
  ['events of changing browsers', (nth) => ({ events: [buildEvent({ view_id: oneView })], userAgent: `browser ${nth}` })],
]

test.each(ATTACKS)(
  'one client address adds at most its budget to the database by %s',
  async (attackName, attack) => {
    const address = `203.0.113.${ATTACKS.findIndex(([name]) => name === attackName) + 1}`
    const before = await databaseBytes()
    let accepted = 0
    let nth = 0
    let isOver = false
    const sender = async () => {
      while (!isOver) {
        const { events, userAgent = 'a browser' } = attack(nth++)
        const isReport = events.every((event) => typeof event === 'string')
        const [path, type] = isReport ? ['cmcd', 'application/cmcd'] : ['events', 'application/json']
        const headers = { 'content-type': type, 'x-forwarded-for': address, 'user-agent': userAgent }
        const sent = isReport ? events.join('\n') : JSON.stringify(events)
        const response = await fetch(`${platform.url}/v2/analytics/${path}`, { method: 'POST', headers, body: sent })
        const body = (await response.json()) as { accepted?: number }
        if (response.status === 202) accepted += body.accepted ?? 0
        else if (response.status === 429) isOver = response.headers.get('ratelimit-policy')?.startsWith('"event_bytes"') ?? false
        else if (response.status !== 503) throw new Error(`events returned ${response.status}: ${JSON.stringify(body)}`)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, sender))
    await waitFor(
      () => asSuperuser(platform, async (client) => (await client.query('select 1 from analytics.pending_batch limit 1')).rowCount === 0),
      {
        timeout: 60_000,
        describe: 'all events to be merged',
      },
    )
    const grown = (await databaseBytes()) - before
    process.stderr.write(
      `${attackName}: ${accepted} events accepted in a window, ${grown} bytes, ${Math.round(grown / accepted)} bytes an event; ` +
        `${((13 * grown) / EVENT_MB / 1e6).toFixed(2)} of the budget of an hour\n`,
    )
    expect(accepted).toBeGreaterThan(0)
    expect(grown).toBeLessThan(WINDOW_BYTES * GROWTH_TOLERANCE)
  },
  120_000,
)

/** Returns the size of the tables of analytics with their indexes. */
async function databaseBytes(): Promise<number> {
  return await asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ bytes: string }>(
      `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relnamespace = 'analytics'::regnamespace and relkind = 'r'`,
    )
    return Number(rows[0]?.bytes)
  })
}
