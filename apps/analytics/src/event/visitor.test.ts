import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { analyticsDatabase } from '../../test/test-analytics.ts'
import { toDay } from '../view/day.ts'
import { createVisitors } from './visitor.ts'

let database: Awaited<ReturnType<typeof analyticsDatabase>>
beforeAll(async () => {
  database = await analyticsDatabase()
})
afterAll(() => database.close())
beforeEach(() => database.db.query('delete from salt'))

const DAY = 86_400_000
const noon = Date.parse('2030-05-10T12:00:00Z')
const address = '192.0.2.77'
const userAgent = 'a browser of this test'
/** Creates a replica with a settable clock. */
function replica(now = noon) {
  const clock = { now }
  const visitors = createVisitors(database.db, () => clock.now)
  const findVisitor = (more: Partial<Parameters<typeof visitors.findId>[0]> = {}) =>
    visitors.findId({ address, userAgent, day: toDay(clock.now), ...more })
  return { clock, findVisitor, renew: visitors.renewSalts }
}
const saltDays = async () =>
  (await database.db.query<{ day: string }>('select day::text as day from salt order by day')).map(({ day }) => day)

test('a visitor has the same id all day on every replica, and another address or browser has another id', async () => {
  const [firstReplica, secondReplica] = [replica(), replica()]
  await Promise.all([firstReplica.renew(), secondReplica.renew()])
  const [first, second] = await Promise.all([firstReplica.findVisitor(), secondReplica.findVisitor()])
  expect(first).toMatch(/^[0-9a-f]{16}$/)
  expect(second).toBe(first)
  firstReplica.clock.now += 11 * 3_600_000
  await firstReplica.renew()
  expect(await firstReplica.findVisitor()).toBe(first)
  expect(
    new Set([first, await firstReplica.findVisitor({ address: '192.0.2.78' }), await firstReplica.findVisitor({ userAgent: 'another' })])
      .size,
  ).toBe(3)
  expect(await firstReplica.findVisitor({ address: '' })).toBeUndefined()
})

test('a visitor has another id on each day', async () => {
  const { clock, findVisitor } = replica()
  const days: (string | undefined)[] = []
  for (let day = 0; day < 5; day++, clock.now += DAY) days.push(await findVisitor())
  expect(new Set(days).size).toBe(5)
})

test('a late event has the visitor id of its own day', async () => {
  const { clock, findVisitor, renew } = replica()
  const yesterday = toDay(noon)
  const then = await findVisitor()
  clock.now += DAY
  await renew()
  expect(await findVisitor({ day: yesterday })).toBe(then)
  // A replica that started today computes the same visitor id.
  expect(await replica(clock.now).findVisitor({ day: yesterday })).toBe(then)
})

test('a salt is removed when events of its day are no longer accepted', async () => {
  const { clock, findVisitor, renew } = replica()
  await renew()
  const firstVisitor = await findVisitor()
  expect(await saltDays()).toEqual(['2030-05-09', '2030-05-10', '2030-05-11'])
  clock.now += 2 * DAY
  await renew()
  expect(await saltDays()).toEqual(['2030-05-11', '2030-05-12', '2030-05-13'])
  // An attacker with the whole database and the right address cannot reproduce the visitor id.
  const salts = await database.db.query<{ salt: Buffer }>('select salt from salt')
  const tried = salts.map(({ salt }) => createHmac('sha256', salt).update(`${address}\0${userAgent}`).digest('hex').slice(0, 16))
  expect(tried).not.toContain(firstVisitor)
  // The process has dropped the old salt from memory too.
  expect(await findVisitor({ day: '2030-05-10' })).not.toBe(firstVisitor)
})
