import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sendRaw, statuses } from './raw-request.ts'
import { startTestGateway } from './started-gateway.ts'

let docsDir: string
let gateway: Awaited<ReturnType<typeof startTestGateway>>

beforeAll(async () => {
  docsDir = mkdtempSync(join(tmpdir(), 'vitascope-docs-'))
  const files: Record<string, string | Buffer> = {
    '.stamp': '0123456789abcdef0123456789abcdef',
    'index.html': '<title>Documentation</title>',
    '404.html': '<title>404</title>',
    'api.html': '<title>API reference</title>',
    'guides/find-videos.html': '<title>Find videos</title>',
    'guides/find-videos.md': '# Find videos\n',
    'operate/index.html': '<title>Operate</title>',
    'llms.txt': '- [Find videos](/docs/guides/find-videos.md)\n',
    'assets/app.1a2b.js': 'export {}\n',
    'assets/app.1a2b.js.gz': gzipSync('export {}\n'),
    'assets/small.3c4d.css': 'p{}\n',
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(docsDir, name, '..'), { recursive: true })
    writeFileSync(join(docsDir, name), content)
  }
  gateway = await startTestGateway([], { docsDir })
})
afterAll(async () => {
  await gateway?.stop()
  rmSync(docsDir, { recursive: true })
})

const call = (path: string, init: RequestInit = {}) => fetch(`${gateway.url}${path}`, { redirect: 'manual', ...init })

test.each([
  ['/docs', 'Documentation'],
  ['/docs/', 'Documentation'],
  ['/docs/api', 'API reference'],
  ['/docs/guides/find-videos', 'Find videos'],
  ['/docs/operate/', 'Operate'],
])('%s is a page that loads scripts of the platform only and cannot be framed', async (path, title) => {
  const response = await call(path)
  expect([response.status, await response.text()]).toEqual([200, `<title>${title}</title>`])
  expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';.*frame-ancestors 'none'/)
  expect(response.headers.get('content-security-policy')).not.toMatch(/https?:|script-src[^;]*unsafe/)
  expect(response.headers.get('cache-control')).toBe('no-cache')
  const head = await call(path, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/html; charset=utf-8', ''])
  expect((await call(path, { method: 'POST' })).status).toBe(405)
})

test('the ETag of a page is that of the site, because files of images have the same size and time', async () => {
  expect((await call('/docs/api')).headers.get('etag')).toBe('W/"0123456789abcdef"')
  // fetch would add Cache-Control: no-cache.
  const revalidate = async () =>
    statuses(
      await sendRaw(
        gateway.address,
        `GET /docs/api HTTP/1.1\r\nHost: h\r\nIf-None-Match: W/"0123456789abcdef"\r\nConnection: close\r\n\r\n`,
      ),
    )
  expect(await revalidate()).toEqual([304])
  writeFileSync(join(docsDir, '.stamp'), 'fedcba9876543210')
  expect(await revalidate()).toEqual([200])
})

test('the index of a folder has a slash at its end', async () => {
  const response = await call('/docs/operate')
  expect([response.status, response.headers.get('location')]).toEqual([301, '/docs/operate/'])
})

test('the Markdown of a page has its address with .md', async () => {
  const response = await call('/docs/guides/find-videos.md')
  expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/markdown; charset=utf-8', '# Find videos\n'])
})

test('/llms.txt has absolute addresses', async () => {
  expect(await (await call('/llms.txt')).text()).toBe(`- [Find videos](${gateway.url}/docs/guides/find-videos.md)\n`)
  expect((await call('/llms.txt', { method: 'HEAD' })).status).toBe(200)
})

test('assets are immutable, and compressed for clients that accept gzip', async () => {
  const request = (coding: string) =>
    sendRaw(gateway.address, `GET /docs/assets/app.1a2b.js HTTP/1.1\r\nHost: h\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`)
  const plain = await request('identity')
  expect(plain).toMatch(/^HTTP\/1.1 200 [\s\S]*Cache-Control: public, max-age=31536000, immutable[\s\S]*export \{\}/)
  expect(plain).toMatch(/Vary: Accept-Encoding/)
  const compressed = await request('gzip')
  expect(compressed).toMatch(/Content-Encoding: gzip/)
  expect(compressed).toMatch(/Content-Type: text\/javascript/)
  const response = await call('/docs/assets/app.1a2b.js')
  expect(await response.text()).toBe('export {}\n')
  expect(await (await call('/docs/assets/small.3c4d.css')).text()).toBe('p{}\n')
  expect(gunzipSync(Buffer.from(await (await call('/docs/assets/app.1a2b.js.gz')).arrayBuffer())).toString()).toBe('export {}\n')
})

test.each(['/docs/nothing', '/docs/assets/nothing.js', '/docs/.stamp', '/docs/guides', '/docs/assets/..%2f.stamp', '/docs/swagger-ui.css'])(
  '%s does not exist: browsers receive a page, other clients a problem',
  async (path) => {
    const problem = await call(path)
    expect([problem.status, problem.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    const response = await call(path, { headers: { accept: 'text/html,*/*;q=0.8' } })
    const isAsset = path.startsWith('/docs/assets/')
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      isAsset ? 'application/problem+json' : 'text/html; charset=utf-8',
    ])
    if (!isAsset) expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
  },
)

test('if the documentation is not built, the problem names the command', async () => {
  const without = await startTestGateway([])
  for (const path of ['/docs', '/docs/api', '/llms.txt']) {
    const response = await fetch(`${without.url}${path}`)
    expect([path, response.status, /npm run generate/.test(await response.text())]).toEqual([path, 404, true])
  }
  await without.stop()
})
