import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { dump } from './database.ts'
import type { OpenHouse } from './house.ts'
import type { NounRows, Refused } from './table-row.ts'

/** The tests that every row of these nouns owes, in a house that they share; answers the house, which is open while the tests run. */
export function describeRows(nouns: readonly NounRows[], open: () => Promise<OpenHouse>): () => OpenHouse {
  let house: OpenHouse | undefined
  const opened = () => {
    if (!house) throw new Error('the house is not open yet')
    return house
  }
  beforeAll(async () => {
    house = await open()
  }, 180_000)
  afterAll(() => house?.close())

  describe.each([...nouns])('$noun', ({ rows }) => {
    test.each(rows.map((row) => [row.endpoint, row] as const))('%s works', (_, row) => row.works(opened()), 180_000)

    test.each(rows.map((row) => [row.endpoint, row] as const))(
      '%s refuses what it must, and nothing changes',
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

/** Every record. Answers of retries, messages that are on their way, and what is swept now and then are nobody's. */
export function rowsNow({ platform }: Pick<OpenHouse, 'platform'>): Promise<Map<string, string>> {
  return dump(
    platform,
    /outbox|idempotency|encoding|audit|api_key_use|analytics[.]|title_word|video_count|spoken|webhook_|catalogue[.]mail/,
  )
}

async function whatIsWrong(house: OpenHouse, refusal: Refused): Promise<string[]> {
  const { as = 'owner', method, path, payload, status, code, fields } = refusal
  const answer = await house.as[as].send<{ code?: string; errors?: { field: string }[] }>(method, path, {
    ...(payload !== undefined && { body: JSON.stringify(payload), headers: { 'content-type': 'application/json' } }),
  })
  const named = (answer.body.errors ?? []).map(({ field }) => field).toSorted()
  const right =
    answer.status === status &&
    (code === undefined || answer.body.code === code) &&
    (fields === undefined || JSON.stringify(named) === JSON.stringify(fields.toSorted()))
  if (right) return []
  const sent = JSON.stringify(payload ?? null).slice(0, 200)
  return [
    `${method} ${path} ${sent} as ${as}: wanted ${status} ${code ?? ''} ${fields ?? ''}, got ${answer.status} ${JSON.stringify(answer.body).slice(0, 400)}`,
  ]
}
