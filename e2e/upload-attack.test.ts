import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { extendTimeout, waitFor } from '@vitascope/testing'
import { asSuperuser } from './support/database.ts'
import { residentMib } from './support/resident-memory.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { signFormFields, uploadByForm, uploadByTus } from './support/timed-uploads.ts'
import { createTenant, type Tenant } from './support/video-steps.ts'

/** Fewer forms than may be pending at once (64), so that none is displaced by another. */
const CONNECTIONS_PER_ATTACK = 12
const ADDRESSES = 20
const GOOD_ADDRESS = '203.0.113.7'
const GOOD_FILE = new Uint8Array(1024 * 1024)
const MB = 1_000_000
const LARGE_FILE_MIB = 192
/** Every hostile form announces this length. A hostile tus PATCH announces 1 MB. */
const ANNOUNCED_BYTES = 1000 * MB
/** Twice the kernel's largest send and receive buffers (tcp_wmem, tcp_rmem). */
const MAX_BUFFERED_BYTES = 20 * MB
/**
 * The documented bound is 13 s. A sender at an eighth of the minimum rate gets 2 s more. The rest
 * is slack for a busy machine.
 */
const TIMEOUT_MS = extendTimeout(16_000)
const SLOW_BYTES_PER_SECOND = 1_000

let platform: TestPlatform
let attacker: Tenant
let uploader: Tenant

beforeAll(async () => {
  platform = await startTestPlatform({ VITASCOPE_TRUST_PROXY: '127.0.0.1' })
  attacker = await createTenant(platform.system)
  uploader = await createTenant(platform.system)
}, 120_000)
afterAll(() => platform?.remove())

interface Attack {
  /** The beginning of the request: headers and the bytes that follow them at once. */
  beginning: string
  /**
   * `drip` sends 1,000 bytes per second after the beginning, `flood` as much as the connection
   * accepts, `wait` nothing.
   */
  next: 'drip' | 'flood' | 'wait'
}

interface Connection {
  /** Status and `code` of the response; undefined if the connection ended without one. */
  response: string | undefined
  isClosed: boolean
  /** Duration of the connection. */
  milliseconds: number
  sentBytes: number
}

const CLOSED_WITH = {
  'fields that never end': '408 request_timeout',
  'fields of more than 64 KiB': '413 payload_too_large',
  'a false policy in front of fields that never end': '403 policy_refused',
  'a false policy in front of a large file': '403 policy_refused',
  'a file slower than 8 KiB/s': '408 request_timeout',
  'a tus PATCH slower than 8 KiB/s': '408 request_timeout',
}
type AttackName = keyof typeof CLOSED_WITH

test('hostile uploads are aborted within their limits and do not delay other uploads', async () => {
  const filesBefore = await storedFiles()
  const locations = await beginTusUploads(CONNECTIONS_PER_ATTACK)
  const fields = await signFormFields(platform, attacker, [
    ['starts-with', '$key', `uploads/${attacker.organisationId}/`],
    ['content-length-range', '1', String(10 * MB)],
  ])
  const falseFields = new Map(fields).set('x-amz-signature', 'f'.repeat(64))
  const attacks: Record<AttackName, (nth: number) => Attack> = {
    'fields that never end': () => ({ beginning: form(ENDLESS_FIELD), next: 'drip' }),
    'fields of more than 64 KiB': () => ({ beginning: form(field('x-ignore-1', 'x'.repeat(64 * 1024))), next: 'wait' }),
    'a false policy in front of fields that never end': () => ({
      beginning: form(`${[...falseFields].map(([name, value]) => field(name, value)).join('')}${ENDLESS_FIELD}`),
      next: 'drip',
    }),
    'a false policy in front of a large file': (nth) => ({ beginning: form(fileForm(falseFields, nth)), next: 'flood' }),
    'a file slower than 8 KiB/s': (nth) => ({ beginning: form(fileForm(fields, nth)), next: 'drip' }),
    'a tus PATCH slower than 8 KiB/s': (nth) => ({ beginning: patch(locations[nth] ?? ''), next: 'drip' }),
  }
  let nextAddress = 0
  const connections = Object.fromEntries(
    Object.entries(attacks).map(([name, attack]) => [
      name,
      Array.from({ length: CONNECTIONS_PER_ATTACK }, (_, nth) => open(attack(nth), `198.51.100.${1 + (nextAddress++ % ADDRESSES)}`)),
    ]),
  ) as Record<AttackName, Connection[]>
  const all = Object.values(connections).flat()
  const slow = [...connections['a file slower than 8 KiB/s'], ...connections['a tus PATCH slower than 8 KiB/s']]
  await waitFor(async () => (await countRows(attacker)).reservations === slow.length, { describe: 'every slow file to have a reservation' })
  const isOver = () => all.every(({ isClosed }) => isClosed)
  const good = await uploadUntil(isOver)

  for (const [name, status] of Object.entries(CLOSED_WITH)) {
    const group = connections[name as AttackName]
    const slowest = Math.max(...group.map(({ milliseconds }) => milliseconds))
    // The response to a flooding sender can be lost, because its connection is reset while it
    // sends.
    const responses = new Set(
      group.map(({ response }) => response).filter((response) => response !== undefined || !name.includes('large file')),
    )
    expect([name, ...responses]).toEqual([name, status])
    process.stderr.write(`${name}: ${status} after ${Math.round(slowest)} ms at most\n`)
    expect(slowest).toBeLessThan(TIMEOUT_MS)
  }
  const sent = connections['a false policy in front of a large file'].map(({ sentBytes }) => sentBytes)
  process.stderr.write(`behind a false policy at most ${Math.max(...sent)} bytes were sent; ${good} good uploads\n`)
  expect(Math.max(...sent)).toBeLessThan(MAX_BUFFERED_BYTES)
  expect(good).toBeGreaterThan(0)

  for (const location of locations) expect((await tus('DELETE', location)).status).toBe(204)
  await waitFor(async () => Object.values(await countRows(attacker)).every((count) => count === 0), {
    describe: 'no row of the attacker to be left',
  })
  expect(await countRows(uploader)).toEqual({ uploads: good, tusUploads: 0, reservations: good })
  const isClean = async () => (await storedFiles()).length === filesBefore.length + good
  await waitFor(isClean, { describe: 'storage to hold the good files and nothing else' })
}, 90_000)

test('encoding does not keep the bytes of an upload in memory', async () => {
  const file = new Uint8Array(LARGE_FILE_MIB * 1024 * 1024)
  for (const upload of [uploadByTus, uploadByForm]) {
    await upload(platform, uploader, GOOD_FILE, GOOD_ADDRESS)
    const before = residentMib(platform, 'encoding')
    await upload(platform, uploader, file, GOOD_ADDRESS)
    expect(residentMib(platform, 'encoding') - before).toBeLessThan(LARGE_FILE_MIB / 3)
  }
}, 60_000)

const ENDED = /^HTTP\/1\.1 (\d{3})[\s\S]*?"code":"(\w+)"/

function open({ beginning, next }: Attack, address: string): Connection {
  const { hostname, port } = new URL(platform.url)
  const connection: Connection = { response: undefined, isClosed: false, milliseconds: 0, sentBytes: 0 }
  const started = performance.now()
  const socket = connect(Number(port), hostname)
  let received = ''
  let drip: NodeJS.Timeout | undefined
  const block = Buffer.alloc(64 * 1024)
  const writeUntilFull = () => {
    while (socket.writable && socket.write(block));
  }
  socket
    .on('error', () => {})
    .on('data', (data) => {
      received += data.toString('latin1')
    })
    .once('close', () => {
      clearInterval(drip)
      const [, status, code] = ENDED.exec(received) ?? []
      connection.isClosed = true
      connection.milliseconds = performance.now() - started
      connection.sentBytes = socket.bytesWritten
      if (status) connection.response = `${status} ${code}`
    })
  socket.write(beginning.replace('\r\n', `\r\nHost: h\r\nX-Forwarded-For: ${address}\r\n`))
  if (next === 'drip') drip = setInterval(() => socket.writable && socket.write('x'.repeat(SLOW_BYTES_PER_SECOND / 10)), 100)
  else if (next === 'flood') {
    writeUntilFull()
    socket.on('drain', writeUntilFull)
  }
  return connection
}

const form = (body: string) =>
  `POST /v2/upload/object HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${ANNOUNCED_BYTES}\r\n\r\n${body}`
const field = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const ENDLESS_FIELD = '--b\r\nContent-Disposition: form-data; name="x-ignore-'
const fileForm = (fields: ReadonlyMap<string, string>, nth: number) =>
  [
    ...[...new Map(fields).set('key', `uploads/${attacker.organisationId}/hostile-${nth}.mp4`)].map(([name, value]) => field(name, value)),
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Type: video/mp4\r\n\r\n',
  ].join('')
const patch = (location: string) =>
  [
    `PATCH ${new URL(location).pathname} HTTP/1.1`,
    `Authorization: Bearer ${attacker.key}`,
    'Tus-Resumable: 1.0.0',
    'Content-Type: application/offset+octet-stream',
    'Upload-Offset: 0',
    `Content-Length: ${MB}`,
    '\r\n',
  ].join('\r\n')

function tus(method: string, url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method, headers: { authorization: `Bearer ${attacker.key}`, 'tus-resumable': '1.0.0', ...headers } })
}

async function beginTusUploads(count: number): Promise<string[]> {
  const locations: string[] = []
  for (let nth = 0; nth < count; nth++) {
    const created = await tus('POST', `${platform.url}/v2/upload/tus`, { 'upload-length': String(MB) })
    expect(created.status).toBe(201)
    locations.push(created.headers.get('location') ?? '')
  }
  return locations
}

/**
 * Uploads files of another organisation from another address until `isOver` returns true, one at a time
 * by form and by tus. Returns the number of uploads per method. Throws if it takes too long.
 */
async function uploadUntil(isOver: () => boolean): Promise<number> {
  const until = performance.now() + extendTimeout(TIMEOUT_MS)
  let count = 0
  while (!isOver()) {
    if (performance.now() > until) throw new Error(`hostile connections are open after ${extendTimeout(TIMEOUT_MS) / 1_000} s`)
    await Promise.all([uploadByForm(platform, uploader, GOOD_FILE, GOOD_ADDRESS), uploadByTus(platform, uploader, GOOD_FILE, GOOD_ADDRESS)])
    count += 1
  }
  return count
}

async function countRows({ organisationId }: Tenant): Promise<{ uploads: number; tusUploads: number; reservations: number }> {
  return await asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ uploads: number; tusUploads: number; reservations: number }>(
      `select (select count(*)::int from encoding.upload where organisation_id::text = $1) as uploads,
         (select count(*)::int from encoding.tus_upload where organisation_id::text = $1 and drop_time is null) as "tusUploads",
         (select count(*)::int from catalogue.upload_reservation where organisation_id::text = $1) as reservations`,
      [organisationId],
    )
    if (!rows[0]) throw new Error('the counts of an organisation have no row')
    return rows[0]
  })
}

/** Returns the paths of the files below the folder of objects, including temporary files. */
async function storedFiles(): Promise<string[]> {
  const entries = await readdir(join(platform.dataDir, 'storage'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
