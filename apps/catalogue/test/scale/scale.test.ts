import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { type FreshDatabase, freshDatabase, planNodes, testLog, type WatchedStatement, watchStatements } from '@vitascope/testing'
import { seedCatalogue } from '../seed/seed-catalogue.ts'
import { allPaths } from './catalogue-clients.ts'
import { driveCatalogue } from './drive-catalogue.ts'
import { startScaleCatalogue } from './scale-catalogue.ts'

const size = { videos: 14_000, organisations: 2 }
/** Rows of a table from which on reading it whole is too much. */
const LARGE = 1_000
/** Rows that one step may read: those that `start` passes over, or a bounded count, and a page. */
const MOST_ROWS = 11_000

let database: FreshDatabase
let db: Db
let statements: WatchedStatement[]
let called: Set<string>
beforeAll(async () => {
  const url = { migrations: join(import.meta.dirname, '../../migrations'), schema: 'catalogue' }
  database = await freshDatabase(url)
  db = openPostgres({ url: database.url, schema: 'catalogue', log: testLog, statementTimeoutMs: 120_000 })
  await seedCatalogue(db, size)
  await db.query('vacuum analyze')
  const watched = await watchStatements(database.url)
  const catalogue = await startScaleCatalogue(database.url)
  try {
    await driveCatalogue(catalogue.ask, size)
  } finally {
    await catalogue.stop()
    watched.stop()
  }
  ;({ statements, called } = { statements: watched.statements, called: catalogue.called })
}, 300_000)
afterAll(async () => {
  await db.close()
  await database.drop()
})

test('every call of every room was made', () => {
  const folder = join(import.meta.dirname, '../../../../proto/vitascope/catalogue/v1')
  const contracts = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    const service = /^service (\w+)/m.exec(text)?.[1]
    return [...text.matchAll(/^ {2}rpc (\w+)/gm)].map(([, name]) => `/vitascope.catalogue.v1.${service}/${name}`)
  })
  expect(allPaths().sort()).toEqual(contracts.sort())
  expect([...called].sort()).toEqual(contracts.sort())
})

test('no statement reads a large table whole, or more rows than a page and those before it', async () => {
  const large = await largeTables()
  expect(large).toEqual(expect.arrayContaining(['video', 'media', 'job', 'video_search', 'video_tag', 'folder_video', 'caption_line']))
  expect(statements.length).toBeGreaterThan(500)
  const bad = new Map<string, string>()
  for (const { text, plan } of statements) {
    for (const node of planNodes(plan)) {
      const table = node['Relation Name'] ?? ''
      if (!large.includes(table)) continue
      const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      const whole = node['Node Type'] === 'Seq Scan' && rows > 0
      if (whole || rows > MOST_ROWS) bad.set(text.replaceAll(/\s+/g, ' '), `${node['Node Type']} of ${rows} rows of ${table}`)
    }
  }
  expect([...bad].map(([text, what]) => `${what}: ${text}`)).toEqual([])
})

async function largeTables(): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'catalogue'::regnamespace and reltuples > ${LARGE}`,
  )
  return rows.map(({ name }) => name)
}
