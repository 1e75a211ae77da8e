import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { dump } from './database.ts'
import type { Platform } from './platform.ts'
import type { NounRows, Refused } from './table-row.ts'

/**
 * Defines the tests that every row of these nouns requires, with a shared platform. Returns the
 * platform, which runs during the tests.
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
        const refusals = await row.refused(opened())
        expect(refusals.length).toBeGreaterThan(0)
        const before = await rowsNow(opened())
        const wrong: string[] = []
        for (const refusal of refusals) wrong.push(...(await whatIsWrong(opened(), refusal)))
        expect(wrong).toEqual([])
        expect(await rowsNow(opened())).toEqual(before)
      },
      60_000,
    )
  })
  return opened
}

/**
 * Returns all records. Stored responses, pending messages and rows of periodic cleanups are
 * excluded.
 */
export function rowsNow({ platform }: Pick<Platform, 'platform'>): Promise<Map<string, string>> {
  return dump(
    platform,
    /outbox|idempotency|encoding|audit|api_key_use|analytics[.]|title_word|video_count|caption_search|caption_change|webhook_|catalogue[.]mail/,
  )
}

async function whatIsWrong(fixture: Platform, refusal: Refused): Promise<string[]> {
  const { as = 'owner', method, path, payload, status, code, fields } = refusal
  const result = await fixture.as[as].send<{ code?: string; errors?: { field: string }[] }>(method, path, {
    ...(payload !== undefined && { body: JSON.stringify(payload), headers: { 'content-type': 'application/json' } }),
  })
  const named = (result.body.errors ?? []).map(({ field }) => field).toSorted()
  const right =
    result.status === status &&
    (code === undefined || result.body.code === code) &&
    (fields === undefined || JSON.stringify(named) === JSON.stringify(fields.toSorted()))
  if (right) return []
  const sent = JSON.stringify(payload ?? null).slice(0, 200)
  return [
    `${method} ${path} ${sent} as ${as}: wanted ${status} ${code ?? ''} ${fields ?? ''}, got ${result.status} ${JSON.stringify(result.body).slice(0, 400)}`,
  ]
}
