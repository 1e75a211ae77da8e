// Faults: C15
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isLongRun, recordFigure, seededRandom, waitFor } from '@vitascope/testing'
import { runCommand } from './support/command.ts'
import { asSuperuser } from './support/database.ts'
import { kill } from './support/nemesis.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const SECONDS = Number(process.env['VITASCOPE_CRASH_SECONDS'] ?? (isLongRun ? 600 : 15))
const VICTIMS = ['gateway', 'analytics', 'postgres']
const EVENTS_PER_REQUEST = 20
const EVENTS_PER_SECOND = 500
/** Limit of concurrent requests, including retries. A slow machine thus gets fewer events. */
const MAX_IN_FLIGHT = 400
/** Maximum wait for accepted events before the next process is killed. */
const MAX_RECOVERY_MS = 15_000
/** Retries of a request. The delay doubles up to about 8 s: about 50 s in total. */
const MAX_RETRIES = 12

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
  tenant = await createTenant(platform.system)
  videoId = (await upload(platform.system, tenant.organisationId, `${sources.url}/small.mp4`)).id
  expect((await waitUntilSettled(platform.system, videoId)).status.status).toBe('ok')
}, 240_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

test(
  'each acknowledged event is counted once while gateway, analytics and PostgreSQL are killed',
  async () => {
    const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1_000_000)
    const random = seededRandom(seed)
    const acknowledged = new Set<string>()
    const sent = new Set<string>()
    const failures: unknown[] = []
    const kills: Record<string, number> = {}
    const until = Date.now() + SECONDS * 1_000
    /** Returns whether all events were accepted. */
    const sendEvents = async (viewIds: readonly string[]) => {
      const at = Date.now()
      const events = viewIds.map((view_id) => ({ video_id: videoId, view_id, type: 'progress', position: 2, watched: [[0, 2]], at }))
      const result = await platform.guest
        .post<{ accepted: number; rejected: unknown[] }>('/analytics/events', events)
        .catch(() => undefined)
      const repeated = !result || result.status === 429 || result.status >= 500
      if (!repeated && result.status !== 202) throw new Error(`${result.status}: ${JSON.stringify(result.body)}`)
      return result?.status === 202 && result.body.accepted === viewIds.length
    }
    /** Retries until success, like a player. Sometimes sends acknowledged events again. */
    const send = async (nth: number) => {
      const viewIds = Array.from({ length: EVENTS_PER_REQUEST }, () => randomUUID())
      for (const id of viewIds) sent.add(id)
      for (let tries = 0; !(await sendEvents(viewIds)); tries++) {
        if (tries === MAX_RETRIES) return
        await delay(Math.min(100 * 2 ** tries, 8_000) * (0.5 + Math.random()))
      }
      for (const id of viewIds) acknowledged.add(id)
      if (nth % 3 === 0) await sendEvents(viewIds)
    }
    /** Sends on schedule, independent of earlier requests. */
    const sendAll = async () => {
      const underWay = new Set<Promise<unknown>>()
      const began = Date.now()
      for (let nth = 0; Date.now() < until && failures.length === 0; ) {
        for (const due = ((Date.now() - began) / 1_000) * (EVENTS_PER_SECOND / EVENTS_PER_REQUEST); nth < due; nth++) {
          if (underWay.size >= MAX_IN_FLIGHT) continue
          const sending = send(nth)
            .catch((failure: unknown) => failures.push(failure))
            .finally(() => underWay.delete(sending))
          underWay.add(sending)
        }
        await delay(20)
      }
      await Promise.all(underWay)
    }
    /**
     * Kills the next process when events are accepted again, or after a time limit, so that a slow
     * machine can recover.
     */
    const nemesis = async () => {
      while (Date.now() < until) {
        const before = acknowledged.size
        const latest = Math.min(Date.now() + MAX_RECOVERY_MS, until)
        while (acknowledged.size === before && Date.now() < latest) await delay(50)
        await delay(1_000 + random() * 2_000)
        const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] ?? 'analytics'
        if (kill(platform, victim)) kills[victim] = (kills[victim] ?? 0) + 1
      }
    }
    await Promise.all([nemesis(), sendAll()])
    expect(failures).toEqual([])
    expect(acknowledged.size).toBeGreaterThan(0)

    const readLoads = async () =>
      (await platform.system.get<{ player_loads: number }>(`/analytics/views/${tenant.organisationId}/video/${videoId}`)).body.player_loads
    const stored = () =>
      asSuperuser(platform, async (client) => {
        const { rows } = await client.query<{ view_id: string }>('select view_id from analytics.view')
        return new Set(rows.map((row) => row.view_id))
      })
    const readCounts = async () => {
      const views = await stored()
      return [...acknowledged].every((id) => views.has(id)) && (await readLoads()) === views.size
    }
    await waitFor(readCounts, { timeout: 120_000, interval: 500, describe: `all acknowledged events to be counted (seed ${seed})` })
    const counted = await stored()
    expect([...counted].filter((id) => !sent.has(id))).toEqual([])
    const killCount = Object.values(kills).reduce((sum, count) => sum + count, 0)
    recordFigure('C15', `${killCount} kills of three processes, each of ${acknowledged.size} acknowledged views counted`)
    const { stdout } = await runCommand('reconcile', [], { VITASCOPE_DATA_DIR: platform.dataDir })
    expect(stdout).toMatch(/^0 differences/m)
    process.stderr.write(
      `event crash run: ${JSON.stringify({ seed, kills, sent: sent.size, acknowledged: acknowledged.size, reconcile: stdout.trim() })}\n`,
    )
  },
  (SECONDS + 300) * 1_000,
)
