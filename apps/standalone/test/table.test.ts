import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { nouns } from './rows/index.ts'
import { dump } from './support/database.ts'
import { nameOfEndpoint, readEndpoints } from './support/endpoints.ts'
import { type OpenHouse, openHouse } from './support/house.ts'
import type { Refused } from './support/table-row.ts'

const only = process.env['VITASCOPE_ROWS']
const picked = nouns.filter(({ noun }) => only === undefined || only.split(',').includes(noun))
let house: OpenHouse

beforeAll(async () => {
  house = await openHouse()
}, 120_000)
afterAll(() => house?.close())

describe.each(picked)('$noun', ({ rows }) => {
  test.each(rows.map((row) => [row.endpoint, row] as const))('%s works', (_, row) => row.works(house), 180_000)

  test.each(rows.map((row) => [row.endpoint, row] as const))(
    '%s refuses what it must, and nothing changes',
    async (_, row) => {
      const refusals = await row.refused(house)
      expect(refusals.length).toBeGreaterThan(0)
      const before = await rowsNow()
      const wrong: string[] = []
      for (const refusal of refusals) wrong.push(...(await whatIsWrong(refusal)))
      expect(wrong).toEqual([])
      expect(await rowsNow()).toEqual(before)
    },
    60_000,
  )
})

if (only === undefined) {
  test('every line of docs/endpoints.csv has its row', async () => {
    const endpoints = await readEndpoints()
    const covered = new Set(nouns.flatMap(({ rows }) => rows.map((row) => row.endpoint)))
    const open = endpoints.filter(({ state }) => state === 'open')
    const done = endpoints.filter(({ state }) => state === 'done')
    const count = done.filter((endpoint) => covered.has(nameOfEndpoint(endpoint))).length
    process.stderr.write(`endpoints: ${endpoints.length} rows of the document and its additions, ${count} covered\n`)
    expect(done.filter((endpoint) => !covered.has(nameOfEndpoint(endpoint))).map(nameOfEndpoint)).toEqual([])
    expect(open.map(nameOfEndpoint)).toEqual([])
    expect([...covered].filter((name) => !done.some((endpoint) => nameOfEndpoint(endpoint) === name))).toEqual([])
  })
}

/** Answers of retries, messages that are on their way, and what is swept now and then are nobody's records. */
const rowsNow = () =>
  dump(house.platform, /outbox|idempotency|encoding|audit|api_key_use|analytics[.]|title_word|video_count|spoken|webhook_|catalogue[.]mail/)

async function whatIsWrong({ as = 'owner', method, path, payload, status, code, fields }: Refused): Promise<string[]> {
  const api = house.as[as]
  const answer = await api.send<{ code?: string; errors?: { field: string }[] }>(method, path, {
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
