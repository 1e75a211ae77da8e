import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { asSuperuser } from './support/database.ts'
import { kill, seeded } from './support/nemesis.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { aTenant, settled, type Tenant, upload } from './support/video-steps.ts'

const SECONDS = Number(process.env['VITASCOPE_CRASH_SECONDS'] ?? (process.env['VITASCOPE_LONG_TESTS'] === '1' ? 600 : 20))
const VICTIMS = ['gateway', 'analytics', 'postgres']
const SENDERS = 10
const A_REQUEST = 10
const EVENTS_A_SECOND = 500
const RECONCILE = join(import.meta.dirname, '../../../tools/reconcile.ts')

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let videoId: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
  platform = await startTestPlatform()
  tenant = await aTenant(platform.system)
  videoId = (await upload(platform.system, tenant.organisationId, `${sources.url}/small.mp4`)).id
  expect((await settled(platform.system, videoId)).status.status).toBe('ok')
}, 240_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

test(
  'what was acknowledged of events is in the reports, once, whatever of gateway, analytics and PostgreSQL is killed',
  async () => {
    const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1_000_000)
    const random = seeded(seed)
    const acknowledged = new Set<string>()
    const sent = new Set<string>()
    const kills: Record<string, number> = {}
    const until = Date.now() + SECONDS * 1_000
    /** True when all of them were accepted; asked again as often as it takes, as a player does. */
    const tell = async (viewIds: readonly string[]) => {
      const at = Date.now()
      const events = viewIds.map((view_id) => ({ video_id: videoId, view_id, type: 'progress', position: 2, watched: [[0, 2]], at }))
      const answer = await platform.guest
        .post<{ accepted: number; rejected: unknown[] }>('/analytics/events', events)
        .catch(() => undefined)
      if (answer && answer.status !== 202 && answer.status < 500) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
      return answer?.status === 202 && answer.body.accepted === viewIds.length
    }
    const send = async () => {
      while (Date.now() < until) {
        const began = Date.now()
        const viewIds = Array.from({ length: A_REQUEST }, () => randomUUID())
        for (const id of viewIds) sent.add(id)
        // An acknowledgement that was lost is asked for again, and one that came is now and then sent once more.
        for (let tries = 0; tries < 5 && !(await tell(viewIds)); tries++) await delay(100 * 2 ** tries)
        if (await tell(viewIds)) for (const id of viewIds) acknowledged.add(id)
        await delay(Math.max(0, (1_000 * 2 * A_REQUEST * SENDERS) / EVENTS_A_SECOND - (Date.now() - began)))
      }
    }
    const nemesis = async () => {
      while (Date.now() < until) {
        await delay(1_000 + random() * 2_000)
        const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] ?? 'analytics'
        if (kill(platform, victim)) kills[victim] = (kills[victim] ?? 0) + 1
      }
    }
    await Promise.all([nemesis(), ...Array.from({ length: SENDERS }, send)])
    expect(acknowledged.size).toBeGreaterThan(0)

    const loads = async () =>
      (await platform.system.get<{ player_loads: number }>(`/analytics/views/${tenant.organisationId}/video/${videoId}`)).body.player_loads
    const stored = () =>
      asSuperuser(platform, async (client) => {
        const { rows } = await client.query<{ view_id: string }>('select view_id from analytics.view')
        return new Set(rows.map((row) => row.view_id))
      })
    const counted = async () => {
      const views = await stored()
      return [...acknowledged].every((id) => views.has(id)) && (await loads()) === views.size
    }
    await waitFor(counted, { timeout: 60_000, interval: 500, describe: `what was acknowledged to be counted (seed ${seed})` })
    expect([...(await stored())].filter((id) => !sent.has(id))).toEqual([])
    const env = { ...process.env, VITASCOPE_DATA_DIR: platform.dataDir }
    const { stdout } = await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', RECONCILE], { env })
    expect(stdout).toMatch(/^0 differences/m)
    process.stderr.write(
      `event crash run: ${JSON.stringify({ seed, kills, sent: sent.size, acknowledged: acknowledged.size, reconcile: stdout.trim() })}\n`,
    )
  },
  (SECONDS + 240) * 1_000,
)
