import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { ListVideosRequest, type ListVideosResponse, VideoOrder } from '@vitascope/proto/catalogue/v1/video'
import { createTestDatabase, planNodes, type TestDatabase, testLog, type WatchedStatement, watchStatements } from '@vitascope/testing'
import { seedCatalogue } from '../seed/seed-catalogue.ts'
import { allPaths } from './catalogue-clients.ts'
import { exerciseCatalogue, owner } from './exercise-catalogue.ts'
import { startScaleCatalogue } from './scale-catalogue.ts'

const size = { videos: 14_000, organisations: 2 }
/** Row count from which a table must not be read completely. */
const LARGE = 1_000
/** Maximum number of rows that one plan node may read: the rows skipped by `start`, or a bounded count, plus a page. */
const MAX_ROWS = 11_000

let database: TestDatabase
let db: Db
let statements: WatchedStatement[]
/** Statements that are bad on purpose. */
let probed: WatchedStatement[]
let called: Set<string>
let started: ListVideosResponse
beforeAll(async () => {
  const url = { migrations: join(import.meta.dirname, '../../migrations'), schema: 'catalogue' }
  database = await createTestDatabase(url)
  db = openPostgres({ url: database.url, schema: 'catalogue', log: testLog, statementTimeoutMs: 120_000 })
  await seedCatalogue(db, size)
  await addWordsWithSamePrefix()
  await db.query('vacuum analyze')
  const watched = await watchStatements(database.url)
  const catalogue = await startScaleCatalogue(database.url)
  const probe = openPostgres({ url: database.url, schema: 'catalogue', log: testLog })
  try {
    await exerciseCatalogue(catalogue.clients, size)
    const request = { query: 'quar', order: VideoOrder.VIDEO_ORDER_RELEVANCE, pageSize: 10 }
    started = await catalogue.clients.videos.listVideos(ListVideosRequest.fromPartial(request), owner)
    statements = watched.statements.splice(0)
    called = catalogue.called
    await probe.query(`select video_id from video where description = 'nowhere'`)
    await probe.query('select video_id from video order by create_time limit 20 offset 12000')
    probed = watched.statements.splice(0).filter(({ text }) => /nowhere|12000/.test(text))
  } finally {
    await probe.close()
    await catalogue.stop()
    watched.stop()
  }
}, 300_000)
afterAll(async () => {
  await db.close()
  await database.drop()
})

test('the driver makes every call of every service', () => {
  const folder = join(import.meta.dirname, '../../../../proto/vitascope/catalogue/v1')
  const contracts = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    const service = /^service (\w+)/m.exec(text)?.[1]
    return [...text.matchAll(/^ {2}rpc (\w+)/gm)].map(([, name]) => `/vitascope.catalogue.v1.${service}/${name}`)
  })
  expect(allPaths().sort()).toEqual(contracts.sort())
  expect([...called].sort()).toEqual(contracts.sort())
})

test('no statement reads a large table completely, or more rows than its page and the skipped ones', async () => {
  const large = await largeTables()
  expect(large).toEqual(expect.arrayContaining(['video', 'media', 'job', 'video_search', 'video_tag', 'folder_video', 'caption_line']))
  expect(statements.length).toBeGreaterThan(500)
  expect(faults(statements, large)).toEqual([])
})

test('the check detects bad statements', async () => {
  expect(faults(probed, await largeTables())).toEqual([
    expect.stringMatching(/^Seq Scan of 1\d{4} rows of video: select .*nowhere/),
    expect.stringMatching(/ of 12020 rows of video: select .*12000/),
  ])
})

test('a word is found by its prefix among 50,000 words of another organisation with the same prefix', () => {
  expect(started.videos.map(({ title }) => title)).toEqual(['Quarzuhr'])
})

/** Adds a title of organisation 1, and words of another organisation that precede it in the list of all words. */
async function addWordsWithSamePrefix(): Promise<void> {
  await db.query(`update video set title = 'Quarzuhr' where video_id = (select min(video_id) from video where organisation_id = 1)`)
  await db.query(
    `with word as (select 'quar' || translate(lpad(g::text, 5, '0'), '0123456789', 'abcdefghij') as word from generate_series(1, 50000) g),
       own as (insert into organisation_title_word (organisation_id, word) select 999, word from word)
     insert into title_word (word) select word from word`,
  )
}

/** Returns one line for each statement that reads too much. */
function faults(watched: readonly WatchedStatement[], large: readonly string[]): string[] {
  const faultByStatement = new Map<string, string>()
  for (const { text, plan } of watched) {
    for (const node of planNodes(plan)) {
      const table = node['Relation Name'] ?? ''
      if (!large.includes(table)) continue
      const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      const whole = node['Node Type'] === 'Seq Scan' && rows > 0
      if (whole || rows > MAX_ROWS) faultByStatement.set(text.replaceAll(/\s+/g, ' '), `${node['Node Type']} of ${rows} rows of ${table}`)
    }
  }
  return [...faultByStatement].map(([text, fault]) => `${fault}: ${text}`)
}

async function largeTables(): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'catalogue'::regnamespace and reltuples > ${LARGE}`,
  )
  return rows.map(({ name }) => name)
}
