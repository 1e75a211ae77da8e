// Faults: B16
import { describe, expect, test } from '@jest/globals'
import { seededRandom } from '@vitascope/testing'
import { parseMultipartForm } from './multipart-form.ts'

const type = 'multipart/form-data; boundary=cut'
const part = (head: string, value: string) => `--cut\r\n${head}\r\n\r\n${value}\r\n`
const named = (name: string, value: string, more = '') => part(`Content-Disposition: form-data; name="${name}"${more}`, value)
const end = '--cut--\r\n'
const parse = (text: string | Buffer, contentType = type) => parseMultipartForm(Buffer.from(text), contentType)

test('parses fields, including repeated and empty ones', async () => {
  expect(await parse(`${named('a', 'ü — 1')}${named('b', '')}${named('a', 'x\r\ny')}${end}`)).toEqual([
    ['a', 'ü — 1'],
    ['b', ''],
    ['a', 'x\r\ny'],
  ])
})

test('parses a form that fetch sends', async () => {
  const form = new FormData()
  form.append('title', 'Ölplattform "2"')
  form.append('__proto__', '{}')
  const request = new Request('http://h', { method: 'POST', body: form })
  const bytes = Buffer.from(await request.arrayBuffer())
  expect(await parseMultipartForm(bytes, request.headers.get('content-type') ?? '')).toEqual([
    ['title', 'Ölplattform "2"'],
    ['__proto__', '{}'],
  ])
})

describe('rejects', () => {
  test.each([
    ['no boundary', named('a', '1') + end, 'multipart/form-data'],
    ['another boundary', named('a', '1') + end, 'multipart/form-data; boundary=other'],
    ['a body that is cut off', named('a', '1').slice(0, -8), type],
    ['no end', named('a', '1'), type],
    ['nothing', '', type],
  ])('%s', async (_, text, contentType) => {
    await expect(parse(text, contentType)).rejects.toMatchObject({ reason: 'MALFORMED_PAYLOAD' })
  })
  test.each([
    ['a file', named('picture', 'x', '; filename="x.png"'), 'picture'],
    ['a NUL', named('a', 'x\0y'), 'a'],
    ['no name', part('Content-Disposition: form-data', 'x'), 'payload'],
    ['an empty name', named('', 'x'), 'payload'],
  ])('%s, naming the field', async (_, text, field) => {
    await expect(parse(text + end)).rejects.toMatchObject({ reason: 'INVALID_INPUT', fields: [{ field }] })
  })
  test('bytes that are not UTF-8, but not the replacement character itself', async () => {
    const broken = Buffer.concat([
      Buffer.from('--cut\r\nContent-Disposition: form-data; name="a"\r\n\r\n'),
      Buffer.from([0xe9]),
      Buffer.from(`\r\n${end}`),
    ])
    await expect(parse(broken)).rejects.toMatchObject({ fields: [{ field: 'a' }] })
    expect(await parse(named('a', '\ufffd') + end)).toEqual([['a', '\ufffd']])
  })
  test('thousands of fields', async () => {
    await expect(parse(named('a', '1').repeat(1_001) + end)).rejects.toMatchObject({ fields: [{ field: 'payload' }] })
  })
})

test.each([
  ['fields', named('a', '1')],
  ['parts without a name', '--cut\r\nA: b\r\n\r\n\r\n'],
  ['parts of nothing', '--cut\r\n\r\n'],
])('rejects 16 MiB of %s after the first thousand', async (_, one) => {
  const bytes = Buffer.alloc(16 * 1024 * 1024, one)
  let read = 0
  const counted = Object.assign(bytes, {
    subarray(from: number, until: number) {
      read += until - from
      return Buffer.prototype.subarray.call(bytes, from, until)
    },
  })
  const started = process.cpuUsage()
  await expect(parseMultipartForm(counted, type)).rejects.toMatchObject({
    fields: [{ field: 'payload', message: 'must not have more than 1000 fields' }],
  })
  const { user, system } = process.cpuUsage(started)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  // A thousand of the longest parts, and the slice that they end in. A parser that continues would
  // have read more by now.
  expect(read).toBeLessThan(1_000 * 60 + 16 * 1024)
  // Microseconds of a process that also does other work. Parsing takes milliseconds, and quadratic
  // behaviour would take minutes.
  expect(user + system).toBeLessThan(10_000_000)
})

test('yields to the event loop while it parses a large form', async () => {
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const fields = await parse(named('a', 'x'.repeat(950)).repeat(1_000) + end)
  clearImmediate(next)
  expect(fields).toHaveLength(1_000)
  expect(turns).toBeGreaterThan(50)
})

test('parses or rejects each of 2,000 mutants in bounded time', async () => {
  const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1e9)
  const random = seededRandom(seed)
  const base = Buffer.from(`${named('a', '1')}${named('b', '{"x":1}')}${named('c', 'x', '; filename="f"')}${end}`)
  const pieces = [
    '--cut',
    '--cut--',
    '\r\n',
    '\n',
    '\r\n\r\n',
    '"',
    '; name=',
    'form-data',
    'Content-Disposition:',
    '\0',
    '--',
    '=',
    '[999999999]',
  ]
  for (let i = 0; i < 2_000; i++) {
    let bytes = base
    for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes--) {
      const at = Math.floor(random() * bytes.length)
      const until = at + Math.floor(random() * 12)
      const piece = Buffer.from(pieces[Math.floor(random() * pieces.length)] ?? '')
      const kind = random()
      if (kind < 0.3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(until)])
      else if (kind < 0.6) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
      else if (kind < 0.8) bytes = bytes.subarray(0, at)
      else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([Math.floor(random() * 256)]), bytes.subarray(at + 1)])
    }
    const outcome = await parseMultipartForm(bytes, type).catch((error: { kind?: string }) => error.kind)
    expect([seed, i, outcome === 'invalid' || Array.isArray(outcome)]).toEqual([seed, i, true])
  }
})
