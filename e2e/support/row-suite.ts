import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { asSuperuser, dump } from './database.ts'
import type { Platform } from './platform.ts'
import type { NounRows, RejectedCall } from './table-row.ts'

/**
 * Defines the tests of every endpoint of these nouns. All tests share one platform. Returns a
 * function that returns this platform while tests run.
 */
export function describeRows(nouns: readonly NounRows[], open: () => Promise<Platform>): () => Platform {
  let fixture: Platform | undefined
  const opened = () => {
    if (!fixture) throw new Error('the platform is not started yet')
    return fixture
  }
  beforeAll(async () => {
    fixture = await open()
  }, 180_000)
  afterAll(() => fixture?.close())

  describe.each([...nouns])('$noun', ({ rows }) => {
    test.each(rows.map((row) => [row.endpoint, row] as const))('%s works', (_, row) => row.works(opened()), 180_000)

    test.each(rows.map((row) => [row.endpoint, row] as const))(
      '%s rejects invalid requests without a change',
      async (_, row) => {
        const calls = await row.rejectedCalls(opened())
        expect(calls.length).toBeGreaterThan(0)
        await waitForMissingSources(opened())
        const before = await readRows(opened())
        const differences: string[] = []
        for (const call of calls) differences.push(...(await findDifferences(opened(), call)))
        expect(differences).toEqual([])
        expect(await readRows(opened())).toEqual(before)
      },
      60_000,
    )
  })
  return opened
}

/**
 * Returns the rows of all tables, except those that background work or rejected requests change,
 * such as outboxes, stored responses and audit entries.
 */
export function readRows({ platform }: Pick<Platform, 'platform'>): Promise<Map<string, string>> {
  return dump(
    platform,
    /outbox|idempotency|encoding|audit|api_key_use|sign_in_link|passkey_challenge|analytics[.]|title_word|video_count|caption_search|caption_change|webhook_|catalogue[.](mail|playback_session|download_)/,
  )
}

/**
 * Waits until the jobs whose source does not exist have failed. Several rows create such videos,
 * and the end of their jobs changes records.
 */
function waitForMissingSources({ platform }: Platform): Promise<unknown> {
  return asSuperuser(platform, (client) =>
    waitFor(
      async () => {
        const { rowCount } = await client.query(
          `select from catalogue.job where state in ('queued', 'running') and source_url like '%/none.mp4'`,
        )
        return rowCount === 0
      },
      { timeout: 30_000, describe: 'the end of the jobs without a source' },
    ),
  )
}

async function findDifferences(fixture: Platform, call: RejectedCall): Promise<string[]> {
  const { caller = 'owner', method, path, payload, form, status, code, fields } = call
  const result = await fixture.clients[caller].send<{ code?: string; errors?: { field: string }[] }>(method, path, {
    ...(payload !== undefined && { body: JSON.stringify(payload), headers: { 'content-type': 'application/json' } }),
    ...(form && { body: toFormData(form) }),
  })
  const invalidFields = (result.body.errors ?? []).map(({ field }) => field).toSorted()
  const isAsExpected =
    result.status === status &&
    (code === undefined || result.body.code === code) &&
    (fields === undefined || JSON.stringify(invalidFields) === JSON.stringify(fields.toSorted()))
  if (isAsExpected) return []
  const sent = JSON.stringify(payload ?? form ?? null).slice(0, 200)
  return [
    `${method} ${path} ${sent} as ${caller}: expected ${status} ${code ?? ''} ${fields ?? ''}, got ${result.status} ${JSON.stringify(result.body).slice(0, 400)}`,
  ]
}

function toFormData(parts: NonNullable<RejectedCall['form']>): FormData {
  const form = new FormData()
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, 'clip.mp4')
  }
  return form
}
