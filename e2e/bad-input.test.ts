// Faults: B1, B2, B3, B4, B6, B9, B11
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Api } from './support/api.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type VideoRecord } from './support/video-steps.ts'

interface Problem {
  code: string
  errors?: { field: string; message: string }[]
}

let platform: TestPlatform
let tenant: Tenant
let api: Api
let videoId: string

beforeAll(async () => {
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  api = platform.withKey(tenant.key)
  const { body } = await api.post<{ id: string }>('/video/upload', {
    url: 'http://127.0.0.1:9999/none.mp4',
    organisation_id: tenant.organisationId,
  })
  videoId = body.id
}, 120_000)
afterAll(() => platform?.remove())

/** Strings that have broken other software. All of them are valid titles. */
const TITLES = [
  'Ω≈ç√∫˜µ≤≥÷ åß∂ƒ©˙∆˚¬…æ',
  '田中さんにあげて下さい 社會科學院語學研究所 울란바토르',
  'مُنَاقَشَةُ سُبُلِ اِسْتِخْدَامِ اللُّغَةِ',
  '👩‍👩‍👧‍👦 👨🏿‍💻 🇺🇳',
  'Ṱ̺̺̕o͞ ̷i̲̬͇̪͙n̝̗͕v̟̜̘̦͟o̶̙̰̠kè͚̮̺̪̹̱̤',
  '‪‪test‪ \u2028\u2029 \u200b\ufeff',
  `'; drop table video; --`,
  `" onmouseover="alert(1)`,
  '<script>alert(1)</script>',
  '{{7*7}} #{7*7} %s %n %x',
  '../../../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '1E+02',
  '0x10',
  '\\',
  '-- ',
  'ﾊﾝｶｸ',
  'e\u0301 and \u00e9',
]

describe('text', () => {
  test.each(TITLES)('%j is returned unchanged', async (title) => {
    expect((await api.patch(`/video/${videoId}`, { video_title: title, tags: [title.replace(/\s/g, '').slice(0, 50)] })).status).toBe(200)
    const { body } = await api.get<VideoRecord>(`/video/${videoId}`)
    expect([body.video_title, body['tags']]).toEqual([title, [title.replace(/\s/g, '').slice(0, 50)]])
  })
  test('combined in pairs is returned unchanged', async () => {
    const pairs = TITLES.flatMap((first) => TITLES.map((second) => `${first} ${second}`))
    expect(pairs.length).toBeGreaterThan(450)
    for (const title of pairs) {
      const result = await api.patch<{ status: { data: { video_title: string } } }>(`/video/${videoId}`, { video_title: title })
      expect([result.status, result.body.status?.data.video_title]).toEqual([200, title])
    }
    expect((await api.get<VideoRecord>(`/video/${videoId}`)).body.video_title).toBe(pairs.at(-1))
  }, 60_000)
  test.each([
    ['a NUL', '{"video_title": "a\\u0000b"}'],
    ['half of a surrogate pair', '{"video_title": "a\\ud800b"}'],
  ])('%s is rejected with its field', async (_, body) => {
    const result = await api.send<Problem>('PATCH', `/video/${videoId}`, { body, headers: { 'content-type': 'application/json' } })
    expect([result.status, result.body.errors?.map(({ field }) => field)]).toEqual([400, ['video_title']])
  })
  test('that is not UTF-8 is rejected', async () => {
    const body = Buffer.from('{"video_title": "caf\xe9"}', 'latin1')
    expect((await api.send('PATCH', `/video/${videoId}`, { body, headers: { 'content-type': 'application/json' } })).status).toBe(400)
  })
})

describe('numbers', () => {
  const unusualNumbers = [
    '-1',
    '0',
    '1.5',
    '1e309',
    '0x10',
    ' 5',
    '1e3',
    '５',
    '2147483648',
    '9007199254740993',
    '12345678901234567890',
    '',
  ]
  test.each(unusualNumbers)('%j as limit and as start is rejected, or means the default if it is empty', async (text) => {
    for (const name of ['limit', 'start']) {
      const { status, body } = await api.get<{ start: number; videos: unknown[] }>(`/video?${name}=${encodeURIComponent(text)}`)
      if (status === 200) expect([body.start, text]).toEqual([1, ''])
      else expect(status).toBe(400)
    }
  })
  test.each([
    ['limit=20', 200],
    ['limit=21', 400],
    ['limit=1&limit=2', 400],
    ['start=1', 200],
    ['sort_by=name', 200],
    ['sort_by=name;select+pg_sleep(5)', 400],
    ["sort_order=descending'--", 400],
  ])('%s returns %i', async (query, status) => {
    expect((await api.get(`/video?${query}`)).status).toBe(status)
  })
  test('SQL in a list parameter is rejected or matches nothing, without delay', async () => {
    const payloads = [
      "'",
      '"',
      ';',
      '--',
      '/*',
      ')',
      "') or 1=1 --",
      "' union select null --",
      '1; drop table video',
      "'; select pg_sleep(5) --",
      '1 or 1=1',
      "\\'; --",
      "'||pg_sleep(5)||'",
      '1)) or ((1=1',
      '#{7*7}',
      '%27',
      "x' and 1=cast((select version()) as int) --",
      'video_id',
      '*',
      'null',
    ]
    const slots = ['sort_by', 'sort_order', 'start', 'limit', 'status', 'tag', 'organisation_id', 'q', 'page']
    const paths = [
      ...slots.map((slot) => (text: string) => `/video?${slot}=${text}`),
      (text: string) => `/video/organisation/${tenant.organisationId}/${text}`,
      (text: string) => `/video/organisation/${tenant.organisationId}/name/${text}`,
      (text: string) => `/video/${text}`,
      (text: string) => `/media/${text}`,
      (text: string) => `/job/${text}`,
      (text: string) => `/user?organisation_id=${text}`,
    ]
    expect(payloads.length * paths.length).toBeGreaterThanOrEqual(300)
    for (const path of paths) {
      for (const payload of payloads) {
        const began = Date.now()
        const { status } = await api.get(path(encodeURIComponent(payload)))
        expect([path(payload), status < 500, Date.now() - began < 4_000]).toEqual([path(payload), true, true])
      }
    }
  }, 60_000)
  test('the error for an unsafe JSON number as an id says to send a string', async () => {
    const body = `{"url": "https://example.org/a.mp4", "organisation_id": 9007199254740993}`
    const result = await api.send<Problem>('POST', '/video/upload', { body, headers: { 'content-type': 'application/json' } })
    expect([result.status, JSON.stringify(result.body)]).toEqual([400, expect.stringContaining('strings')])
  })
})

describe('rejects a forbidden source address with 400 on url', () => {
  test.each([
    'file:///etc/passwd',
    'ftp://example.org/a.mp4',
    'gopher://example.org/',
    'data:video/mp4;base64,AAAA',
    'ws://example.org/',
    'unix:/var/run/docker.sock',
    'http://example.org:22/a.mp4',
    'http://example.org:25/',
    'http://user:secret@example.org/a.mp4',
    'http://10.1.2.3/a.mp4',
    'http://169.254.169.254/latest/meta-data',
    'http://0xa010203/',
    'http://[fd00::1]/a.mp4',
    'http://[::ffff:10.0.0.1]/',
    'http://[64:ff9b::a00:1]/',
    'not a url',
    '',
  ])('%j', async (url) => {
    for (const call of [
      () => api.post<Problem>('/video/upload', { url, organisation_id: tenant.organisationId }),
      async () => api.put<Problem>(`/media/${(await api.get<VideoRecord>(`/video/${videoId}`)).body.media_id}`, { uri: url }),
    ]) {
      const result = await call()
      expect(result.status).toBe(400)
      expect(result.body.errors?.map(({ field }) => field)).toEqual([expect.stringMatching(/^(url|uri)$/)])
      expect(JSON.stringify(result.body)).not.toContain('secret')
    }
  })
})

describe('the three payload formats are equivalent', () => {
  const fields = { video_title: 'Formed', enabled: '1', tags: ['one', 'two'] }
  const forms: [string, () => { body: RequestInit['body']; query?: string; headers?: Record<string, string> }][] = [
    ['a JSON body', () => ({ body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } })],
    ['a form field data', () => ({ body: new URLSearchParams({ data: JSON.stringify(fields) }) })],
    ['a query parameter data', () => ({ body: null, query: `?data=${encodeURIComponent(JSON.stringify(fields))}` })],
    [
      'flat fields of a form',
      () => ({
        body: new URLSearchParams([
          ['video_title', 'Formed'],
          ['enabled', '1'],
          ['tags', '["one","two"]'],
        ]),
      }),
    ],
    [
      'repeated fields',
      () => ({
        body: new URLSearchParams([
          ['video_title', 'Formed'],
          ['enabled', '1'],
          ['tags', 'one'],
          ['tags', 'two'],
        ]),
      }),
    ],
    [
      'a multipart form',
      () => {
        const form = new FormData()
        form.set('data', JSON.stringify(fields))
        return { body: form }
      },
    ],
  ]
  test.each(forms)('%s', async (_, make) => {
    await api.patch(`/video/${videoId}`, { video_title: 'before', tags: [] })
    const { body, query = '', headers = {} } = make()
    const result = await api.send('PATCH', `/video/${videoId}${query}`, { body, headers })
    expect([result.status, result.body]).toEqual([200, expect.anything()])
    const after = (await api.get<VideoRecord>(`/video/${videoId}`)).body
    expect([after.video_title, after['tags']]).toEqual(['Formed', ['one', 'two']])
  })
  test.each([
    ['a broken JSON body', { body: '{"video_title":', headers: { 'content-type': 'application/json' } }, 400],
    ['a list as a body', { body: '[]', headers: { 'content-type': 'application/json' } }, 400],
    ['another content type', { body: '<a/>', headers: { 'content-type': 'application/xml' } }, 415],
    [
      'more than 1 MiB',
      { body: JSON.stringify({ description: 'x'.repeat(1024 * 1024) }), headers: { 'content-type': 'application/json' } },
      413,
    ],
    [
      '33 levels of brackets',
      { body: `{"location": ${'['.repeat(33)}${']'.repeat(33)}}`, headers: { 'content-type': 'application/json' } },
      400,
    ],
    ['100,000 levels of brackets', { body: '['.repeat(100_000), headers: { 'content-type': 'application/json' } }, 400],
    ['data twice', { body: 'data=%7B%7D&data=%7B%7D', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 400],
  ])('rejects %s', async (_, init, status) => {
    expect((await api.send('PATCH', `/video/${videoId}`, init)).status).toBe(status)
  })
  test('__proto__ as a field is an unknown field and changes no object', async () => {
    for (const body of ['{"__proto__": {"polluted": 1}}', '{"constructor": {"prototype": {"polluted": 1}}}']) {
      const result = await api.send<Problem>('PATCH', `/video/${videoId}`, { body, headers: { 'content-type': 'application/json' } })
      expect(result.status).toBe(400)
    }
    expect(JSON.stringify((await api.get(`/video/${videoId}`)).body)).not.toContain('polluted')
  })
})

describe('JSONP', () => {
  const data = () => encodeURIComponent(JSON.stringify({ url: 'http://127.0.0.1:9999/none.mp4', organisation_id: tenant.organisationId }))
  const request = (callback: string | undefined, key = 'system-key-of-the-tests-0001') =>
    platform.guest.get<string>(
      `/video/upload?data=${data()}&api_key=${key}${callback === undefined ? '' : `&callback=${encodeURIComponent(callback)}`}`,
    )
  test('wraps the response in the callback, as a script that is not cached', async () => {
    const result = await request('my.app.done')
    expect(result.status).toBe(200)
    const text = typeof result.body === 'string' ? result.body : JSON.stringify(result.body)
    expect(text).toMatch(/^\/\*\*\/my\.app\.done\(\{.*"code":1,"message":"waiting for encoding".*\}\);?\s*$/)
    expect(result.headers.get('content-type')).toMatch(/javascript/)
    expect([result.headers.get('x-content-type-options'), result.headers.get('cache-control')]).toEqual(['nosniff', 'no-store'])
  })
  test.each([
    'alert(1)//',
    '</script>',
    'a.b.c.d.e',
    'a-b',
    '1a',
    'a..b',
    '.a',
    'a.',
    'CWS%00',
    'x'.repeat(65),
    'x'.repeat(5_000),
    'a b',
    'a;b',
    'a\u2028',
    'a\u2029b',
    'a()',
    'a[0]',
    "a['b']",
    'a"b',
    "a'b",
    'a\\u0062',
    'a\nb',
    'a\tb',
    'a/b',
    'a//b',
    'a/*b*/',
    'a+b',
    'a=b',
    'a,b',
    'a{}',
    'a<b',
    'a>b',
    'a&b',
    'a|b',
    'a!',
    'a?b',
    'a:b',
    'a@b',
    'a#b',
    'a~b',
    '\ufeffa',
    '%2561',
  ])('rejects the callback %j', async (callback) => {
    expect((await request(callback)).status).toBe(400)
  })
  test('requires a system key', async () => {
    expect((await request('done', tenant.key)).status).toBe(403)
    expect((await request('done', 'vs_nothing')).status).toBe(401)
  })
  test('creates nothing on HEAD', async () => {
    expect((await platform.guest.send('HEAD', `/video/upload?data=${data()}&api_key=system-key-of-the-tests-0001`)).status).toBe(405)
  })
})

test('afterwards no process has ended or logged an error', async () => {
  const log = platform.log()
  expect(log).not.toMatch(/restarting it/)
  expect(log.split('\n').filter((line) => / (ERROR|FATAL): /.test(line))).toEqual([])
  // A request id can contain any digits.
  expect(log.replaceAll(/request_id=\S+/g, '')).not.toMatch(/22021|22P05/)
})
