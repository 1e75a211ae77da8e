import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLogger } from '@vitascope/telemetry'
import { createTestDatabase, startFaultProxy } from '@vitascope/testing'
import { type Db, openPostgres, withIdempotency } from '../src/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
let db: Db
let url: string
let folder: string
let drop: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await writeFile(
    join(folder, '0001-thing.sql'),
    'create table thing (thing_id bigint generated always as identity primary key, name text unique);',
  )
  const fresh = await createTestDatabase({ migrations: folder, schema: 'thing' })
  url = fresh.url
  drop = fresh.drop
  db = openPostgres({ url, schema: 'thing', log })
})
afterAll(async () => {
  await db.close()
  await drop()
  await rm(folder, { recursive: true })
})
beforeEach(() => db.query('truncate thing, outbox, idempotency'))

const names = async () => (await db.query<{ name: string }>('select name from thing order by thing_id')).map((r) => r.name)

describe('a copy', () => {
  async function* lines(count: number, fail = false) {
    for (let line = 0; line < count; line++) yield `row ${line}\n`
    if (fail) throw new Error('the source broke')
  }
  const copy = (parts: AsyncIterable<string>, signal?: AbortSignal) =>
    db.transaction((tx) => tx.copy('copy thing (name) from stdin', parts), signal)

  test('inserts every row', async () => {
    expect(await copy(lines(20_000))).toBe(20_000)
    expect(await names()).toHaveLength(20_000)
  })
  test('inserts nothing when its source fails, a row is rejected or the signal aborts, and the connection stays usable', async () => {
    await expect(copy(lines(5_000, true))).rejects.toThrow('the source broke')
    await db.query('insert into thing (name) values ($1)', ['row 4999'])
    await expect(copy(lines(5_000))).rejects.toMatchObject({ code: '23505' })
    const stop = new AbortController()
    const endless = async function* () {
      for (let line = 0; ; line++) {
        if (line === 1_000) stop.abort()
        yield `endless ${line}\n`
      }
    }
    await expect(copy(endless(), stop.signal)).rejects.toMatchObject({ name: 'AbortError' })
    expect(await names()).toEqual(['row 4999'])
  })
  test('is one transaction with the statements before it, and the connection stays usable after a failure', async () => {
    const insertAndCopy = (first: string, rows: string) =>
      db.copy(`insert into thing (name) values ('${first}'); copy thing (name) from stdin`, rows)
    await insertAndCopy('before ü', 'one\ntwo ü\n')
    expect(await names()).toEqual(['before ü', 'one', 'two ü'])
    await expect(insertAndCopy('again', 'three\none\n')).rejects.toMatchObject({ code: '23505' })
    await expect(insertAndCopy('one', 'three\n'.repeat(10_000))).rejects.toMatchObject({ code: '23505' })
    await expect(db.copy('copy nothing (name) from stdin', 'x\n')).rejects.toMatchObject({ code: '42P01' })
    await Promise.all(Array.from({ length: 20 }, (_, nth) => insertAndCopy(`${nth} before`, `${nth}\n`)))
    expect(await names()).toHaveLength(43)
  })
})

test('rows that are parsed on demand have the values of parsed rows, and different rows have different texts', async () => {
  const read = `select * from (values
      ('', null, 1::int8, true, '{"a": [1, null]}'::jsonb, array['x', null], timestamptz '2026-03-01 09:05:03.25Z'),
      (null, '', 1, true, '{"a": [1, null]}', array['x', null], '2026-03-01 09:05:03.25Z'),
      (null, '-', 1, true, '{"a": [1, null]}', array['x', null], '2026-03-01 09:05:03.25Z'),
      ('', $1::text, 1, true, '{"a": [1, null]}', array['x', null], '2026-03-01 09:05:03.25Z')
    ) as thing (first, second, number, flag, object, list, time)`
  const rows = await db.preparedTexts<object>(read, [null])
  expect(rows.map((row) => row.parse())).toEqual(await db.query(read, [null]))
  expect(new Set(rows.slice(0, 3).map(({ text }) => text)).size).toBe(3)
  expect(rows[3]?.text).toBe(rows[0]?.text)
  await expect(db.preparedTexts('select 1 / $1::int', [0])).rejects.toThrow('division by zero')
})

describe('a transaction or a query', () => {
  test('fails if it ignores the error of a statement', async () => {
    let ran = 0
    const change = db.transaction(async (tx) => {
      tx.afterCommit(() => ran++)
      await tx.query('insert into thing (name) values ($1)', ['lost'])
      await tx.query('select 1 / 0').catch(() => {})
    })
    await expect(change).rejects.toThrow('was rolled back')
    expect([await names(), ran]).toEqual([[], 0])
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }])
  })
  test('changes nothing when it throws, and runs afterCommit only after a commit', async () => {
    let ran = 0
    const add = (fail: boolean) =>
      db.transaction(async (tx) => {
        await tx.query('insert into thing (name) values ($1)', ['a'])
        tx.afterCommit(() => ran++)
        if (fail) throw new Error('no')
      })
    await expect(add(true)).rejects.toThrow('no')
    expect([await names(), ran]).toEqual([[], 0])
    await add(false)
    expect([await names(), ran]).toEqual([['a'], 1])
  })
  test('is rolled back if its signal aborts', async () => {
    const controller = new AbortController()
    const change = db.transaction(async (tx) => {
      await tx.query('insert into thing (name) values ($1)', ['b'])
      controller.abort()
    }, controller.signal)
    await expect(change).rejects.toMatchObject({ name: 'AbortError' })
    expect(await names()).toEqual([])
  })
  test('is retried after a deadlock', async () => {
    await db.query(`insert into thing (name) values ('x'), ('y')`)
    const lockInOrder = (first: string, second: string) => {
      let markLocked: () => void = () => {}
      const firstLocked = new Promise<void>((resolve) => {
        markLocked = resolve
      })
      let attempts = 0
      const done = db.transaction(async (tx) => {
        attempts++
        await tx.query('select 1 from thing where name = $1 for update', [first])
        markLocked()
        if (attempts === 1) await other?.firstLocked
        await tx.query('select 1 from thing where name = $1 for update', [second])
      })
      let other: { firstLocked: Promise<void> } | undefined
      return { firstLocked, done, waitFor: (transaction: { firstLocked: Promise<void> }) => (other = transaction) }
    }
    const [a, b] = [lockInOrder('x', 'y'), lockInOrder('y', 'x')]
    a.waitFor(b)
    b.waitFor(a)
    await expect(Promise.all([a.done, b.done])).resolves.toBeDefined()
  })
  test('fails as unavailable after five attempts that end with a deadlock or a serialisation failure', async () => {
    let attempts = 0
    const failing = (code: string) =>
      db.transaction(async (tx) => {
        attempts++
        await tx.query(`do $$ begin raise exception 'conflict' using errcode = '${code}'; end $$`)
      })
    for (const code of ['40P01', '40001']) {
      await expect(failing(code)).rejects.toMatchObject({ kind: 'unavailable', reason: 'DATABASE_BUSY', retryAfter: 1 })
    }
    expect(attempts).toBe(10)
    await expect(failing('23505')).rejects.toMatchObject({ code: '23505' })
    expect(attempts).toBe(11)
  })
  test('fails as unavailable if it waits for a lock, and does not block plain queries or read-only transactions', async () => {
    const singleConnectionDb = openPostgres({ url, schema: 'thing', log, poolSize: 1 })
    await db.query(`insert into thing (name) values ('x')`)
    await db.transaction(async (tx) => {
      await tx.query('select from thing for update')
      let isOver = false
      const waiting = singleConnectionDb
        .transaction((other) => other.query('select from thing for update'))
        .finally(() => {
          isOver = true
        })
      waiting.catch(() => {})
      expect(await singleConnectionDb.query('select name from thing')).toEqual([{ name: 'x' }])
      expect(await singleConnectionDb.readOnly((query) => query('select name from thing'))).toEqual([{ name: 'x' }])
      expect(isOver).toBe(false)
      await expect(waiting).rejects.toMatchObject({ kind: 'unavailable', reason: 'DATABASE_BUSY', retryAfter: 1 })
    })
    expect(await singleConnectionDb.transaction((other) => other.query('select name from thing for update'))).toEqual([{ name: 'x' }])
    await singleConnectionDb.close()
  })
  test('cannot write if it is read-only, and local settings end with it', async () => {
    await db.readOnly(async (query) => {
      await query('set local enable_seqscan = off')
      expect(await query('show enable_seqscan')).toEqual([{ enable_seqscan: 'off' }])
    })
    expect(await db.query('show enable_seqscan')).toEqual([{ enable_seqscan: 'on' }])
    await expect(db.readOnly((query) => query(`insert into thing (name) values ('x')`))).rejects.toMatchObject({ code: '25006' })
    await expect(db.readOnly((query) => query('select 1'), AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
  })
  test('fails as unavailable if the server refuses the connection', async () => {
    const unreachableDb = openPostgres({ url: 'postgres://nobody:x@127.0.0.1:1/none', schema: 'thing', log })
    await expect(unreachableDb.query('select 1')).rejects.toMatchObject({ kind: 'unavailable', reason: 'DATABASE_UNAVAILABLE' })
    await unreachableDb.close()
  })
  test('fails as busy if no connection becomes free', async () => {
    const one = openPostgres({ url, schema: 'thing', log, poolSize: 1 })
    const waiting = one.transaction(() => one.transaction(({ query }) => query('select 1')))
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable', reason: 'DATABASE_BUSY', retryAfter: 1 })
    await one.close()
  })
  test('fails as unavailable if the database is read-only', async () => {
    const change = (name: string) => `insert into thing (name) values ('${name}')`
    const readOnly = async (query: Db['query']) => {
      await query('set transaction read only')
      await query(change('x'))
    }
    await expect(db.transaction(({ query }) => readOnly(query))).rejects.toMatchObject({
      ...{ kind: 'unavailable', reason: 'DATABASE_UNAVAILABLE', retryAfter: 1 },
      cause: { code: '25006' },
    })
    await db.query(change('y'))
    expect(await names()).toEqual(['y'])
  })
  test.each([
    ['the disk is full', '53100', 'unavailable'],
    ['memory is exhausted', '53200', 'unavailable'],
    ['a setting is exceeded', '53400', undefined],
    ['a column must not be null', '23502', undefined],
    ['a check fails', '23514', undefined],
    ['a file is damaged', 'XX001', undefined],
  ])('that fails because %s (%s) throws the kind %j', async (_, code, kind) => {
    const failing = db.query(`do $$ begin raise exception using errcode = '${code}'; end $$`)
    await expect(failing).rejects.toMatchObject(kind ? { kind, reason: 'DATABASE_UNAVAILABLE', retryAfter: 1 } : { code })
  })
  test('fails as unavailable after the statement timeout, and its connection is reused', async () => {
    const slow = openPostgres({ url, schema: 'thing', log, statementTimeoutMs: 1_000, poolSize: 1 })
    await expect(slow.query('select pg_sleep(10)')).rejects.toMatchObject({ kind: 'unavailable', reason: 'DATABASE_UNAVAILABLE' })
    expect(await slow.query('select 1 as one')).toEqual([{ one: 1 }])
    await slow.close()
  })
})

describe('idempotency keys', () => {
  const codec = { encode: (v: string) => Buffer.from(v), decode: (b: Uint8Array) => Buffer.from(b).toString() }
  const idempotency = { key: 'k'.repeat(64), fingerprint: 'f'.repeat(64) }
  const add = (name: string, call = { idempotency }) =>
    withIdempotency(db, call, codec, async (tx) => {
      await tx.query('insert into thing (name) values ($1)', [name])
      return `made ${name}`
    })

  test('the second call returns the stored response and changes nothing', async () => {
    expect(await add('a')).toBe('made a')
    expect(await add('b')).toBe('made a')
    expect(await names()).toEqual(['a'])
  })
  test('a different payload with the same key is rejected', async () => {
    await add('a')
    await expect(add('b', { idempotency: { ...idempotency, fingerprint: 'g'.repeat(64) } })).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_MISMATCH',
    })
  })
  test('a failed call does not use up its key', async () => {
    await db.query(`insert into thing (name) values ('a')`)
    await expect(add('a')).rejects.toMatchObject({ code: '23505' })
    expect(await add('b')).toBe('made b')
  })
  test('of twenty concurrent calls one creates the thing, and the others return its response or throw IDEMPOTENCY_RUNNING', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => add(`n${i}`)))
    const reasons = results.filter((r) => r.status === 'rejected').map((r) => (r.reason as { reason?: string }).reason)
    expect(new Set(reasons)).toEqual(new Set(reasons.length > 0 ? ['IDEMPOTENCY_RUNNING'] : []))
    expect(await names()).toHaveLength(1)
  })
})

describe('a connection that silently stopped responding', () => {
  test.each([
    ['a statement', (proxiedDb: Db) => proxiedDb.query('select 1')],
    ['a transaction', (proxiedDb: Db) => proxiedDb.transaction((tx) => tx.query('select 1'))],
  ])(
    'fails %s as unavailable, and is not used again',
    async (_, request) => {
      const proxy = await startProxy(url)
      const proxiedDb = openPostgres({ url: proxy.url, schema: 'thing', log, poolSize: 1, statementTimeoutMs: 1_000 })
      expect(await proxiedDb.ping()).toBe(true)
      proxy.stopForwarding()
      await expect(request(proxiedDb)).rejects.toMatchObject({ kind: 'unavailable' })
      proxy.resumeForwarding()
      expect(await proxiedDb.ping()).toBe(true)
      await proxiedDb.close()
      await proxy.close()
    },
    10_000,
  )
})

test('the log has the start and the end of an outage, and not each failed check', async () => {
  const lines: string[] = []
  const note = (_: object, msg: string) => void lines.push(msg)
  const recorder = { info: note, error: note, warn: () => {}, debug: () => {} } as unknown as typeof log
  const proxy = await startFaultProxy(new URL(url).host)
  const proxiedUrl = new URL(url)
  proxiedUrl.host = proxy.address
  const proxiedDb = openPostgres({ url: proxiedUrl.href, schema: 'thing', log: recorder })
  const { target } = proxy
  expect(await proxiedDb.ping()).toBe(true)
  proxy.target = '127.0.0.1:1'
  proxy.drop()
  for (let check = 0; check < 3; check++) expect(await proxiedDb.ping()).toBe(false)
  proxy.target = target
  for (let check = 0; check < 2; check++) expect(await proxiedDb.ping()).toBe(true)
  expect(lines).toEqual(['the database does not respond', 'the database responds again'])
  await proxiedDb.close()
  await proxy.close()
})

/** Returns a proxy to the database that can stop forwarding data. */
async function startProxy(to: string) {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  let isForwarding = true
  const server = createServer((clientSocket) => {
    const serverSocket = connect(Number(port), hostname)
    // A connection that is used while forwarding is stopped forwards no data afterwards.
    let alive = true
    sockets.add(clientSocket).add(serverSocket)
    for (const [from, into] of [
      [clientSocket, serverSocket],
      [serverSocket, clientSocket],
    ] as const) {
      from.on('data', (data) => {
        if (!isForwarding) alive = false
        if (alive) into.write(data)
      })
      from.on('error', () => into.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxyUrl = new URL(to)
  proxyUrl.hostname = '127.0.0.1'
  proxyUrl.port = String((server.address() as AddressInfo).port)
  return {
    url: proxyUrl.href,
    stopForwarding() {
      isForwarding = false
    },
    resumeForwarding() {
      isForwarding = true
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
