import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { oldestNodePath } from '@vitascope/testing'
import { problem, type StandInServer, startStandInServer } from './stand-in-server.ts'

const packageFolder = join(import.meta.dirname, '..')
const run = promisify(execFile)
const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
const MAX_BYTES = 40_000
const MAX_ONE_FUNCTION_BYTES = 6_000
const folder = mkdtempSync(join(tmpdir(), 'vitascope-sdk-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a minified web page', () => {
  const page = join(folder, 'page')
  beforeAll(() => {
    mkdirSync(join(page, 'node_modules/@vitascope'), { recursive: true })
    symlinkSync(packageFolder, join(page, 'node_modules/@vitascope/sdk'))
  })

  /** Returns the code of a page, bundled for browsers. */
  const bundle = async (code: string) => {
    writeFileSync(join(page, 'page.js'), code)
    const options = {
      logLevel: 'error',
      build: {
        outDir: 'out',
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: { input: 'page.js', preserveEntrySignatures: 'strict' },
      },
    }
    writeFileSync(join(page, 'vite.config.js'), `export default ${JSON.stringify(options)}`)
    const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')
    await run(process.execPath, [vite, 'build'], { cwd: page })
    const assets = join(page, 'out/assets')
    return readdirSync(assets)
      .map((name) => readFileSync(join(assets, name), 'utf8'))
      .join('')
  }

  test(`has at most ${MAX_BYTES} bytes with everything, and uses no module of Node.js`, async () => {
    const code = await bundle(`export * from '@vitascope/sdk'`)
    expect(code).toContain('VitascopeError')
    expect(code.length).toBeLessThanOrEqual(MAX_BYTES)
    expect(code).not.toMatch(/node:|\brequire\(|\bBuffer\b|\bprocess\b/)
  }, 60_000)

  test.each(['verifyWebhook', 'signPlaybackToken'])(
    `has at most ${MAX_ONE_FUNCTION_BYTES} bytes with %s only`,
    async (name) => {
      const code = await bundle(`export { ${name} } from '@vitascope/sdk'`)
      expect(code.length).toBeLessThanOrEqual(MAX_ONE_FUNCTION_BYTES)
      expect(code).not.toContain('/v2/')
    },
    60_000,
  )
})

const goodApp = `
import { type Schemas, Vitascope, VitascopeError, type Video, uploadToTicket, verifyWebhook } from '@vitascope/sdk'
const vitascope = new Vitascope({ url: 'https://video.example.org', key: 'a-key', organisationId: '1' })
export async function main(file: File, request: Request): Promise<void> {
  const { id } = await vitascope.videos.upload(file, { title: 'Launch', onProgress: ({ sentBytes, totalBytes }) => console.log(sentBytes, totalBytes) })
  const video: Video = await vitascope.videos.waitUntilReady(id)
  for await (const { video_id, uri } of vitascope.videos.list({ tag: 'launch' })) console.log(video_id, uri.hls)
  await vitascope.videos.update(id, { security: { token_required_platform: true } })
  const folder = await vitascope.call('createFolder', { payload: { name: 'Trailers' } })
  const folderId: string = folder.created
  const users: Schemas['User'][] = await vitascope.list('listUsers').toArray()
  const names: [string, string][] = await vitascope.list('listOrganisationNames').toArray()
  const feed: string = await vitascope.call('getPlaylistFeed', { path: { playlist_id: '1' } })
  const removed: undefined = await vitascope.call('deleteTusUpload', { path: { upload_id: '1' } })
  await vitascope.call('setVideoPoster', { path: { video_id: id }, body: file })
  await vitascope.call('setVideoPoster', { path: { video_id: id }, payload: { time: 12.5 } })
  await uploadToTicket((await vitascope.videos.createUploadTicket()).url, file)
  if (video.status.status === 'ok' || video.status.status === 'a new state') console.log(folderId, users, names, feed, removed)
  const event = await verifyWebhook(await request.text(), request.headers, 'whsec_c2VjcmV0')
  switch (event.type) {
    case 'video.ready':
      console.log(event.data.video_id)
      break
    case 'video.failed':
      console.log(event.data.code)
  }
  await vitascope.videos.get('1').catch((error: unknown) => {
    if (error instanceof VitascopeError && error.code === 'video_not_found') return
    throw error
  })
}
`
const badApp = `
import { Vitascope } from '@vitascope/sdk'
const vitascope = new Vitascope({ key: 'a-key' })
void vitascope.call('createFolders', {})
void vitascope.call('createFolder')
void vitascope.call('getVideo', { path: { id: '1' } })
void vitascope.videos.update('1', { visibility: 'secret' })
void vitascope.list('getVideo', { path: { video_id: '1' } })
`

describe('the types of the package', () => {
  const types = join(folder, 'types')
  const requireFromPackage = createRequire(join(packageFolder, 'package.json'))
  const requireFromRoot = createRequire(join(packageFolder, '../../package.json'))
  beforeAll(() => {
    mkdirSync(join(types, 'node_modules/@vitascope'), { recursive: true })
    symlinkSync(packageFolder, join(types, 'node_modules/@vitascope/sdk'))
    writeFileSync(join(types, 'package.json'), '{"type":"module"}')
  })

  /** Returns the messages of a compiler about an app of a developer. */
  const compile = async (code: string, options: Record<string, unknown>, compiler = requireFromRoot) => {
    writeFileSync(join(types, 'app.ts'), code)
    const compilerOptions = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], types: [], ...options }
    writeFileSync(join(types, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
    const tsc = join(dirname(compiler.resolve('typescript/package.json')), 'bin/tsc')
    return run(process.execPath, [tsc, '-p', types, '--pretty', 'false'], { cwd: types }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    )
  }

  test.each([
    ['TypeScript 7', requireFromRoot, { module: 'nodenext' }],
    ['TypeScript 7', requireFromRoot, { module: 'esnext', moduleResolution: 'bundler', exactOptionalPropertyTypes: true }],
    ['TypeScript 7', requireFromRoot, { module: 'esnext', moduleResolution: 'bundler', customConditions: ['browser'] }],
    ['TypeScript 5', requireFromPackage, { module: 'nodenext' }],
  ])(
    '%s accepts an app: %#',
    async (_, compiler, options) => {
      expect(await compile(goodApp, options, compiler)).toBe('')
    },
    60_000,
  )

  test.each(['packages/sdk/README.md', 'docs/guides/use-the-sdk.md', 'docs/tutorial/first-video-in-typescript.md'])(
    'the snippets of %s have correct types',
    async (document) => {
      const blocks = readFileSync(join(packageFolder, '../..', document), 'utf8').matchAll(/```ts\n(.*?)```/gs)
      const code = [...blocks].map(([, block = '']) => block).join('\n')
      const typeRoots = [join(packageFolder, '../../node_modules/@types')]
      expect(await compile(code, { module: 'nodenext', types: ['node'], typeRoots })).toBe('')
    },
    60_000,
  )

  test('a wrong operation, parameter or value is an error', async () => {
    const lines = (await compile(badApp, { module: 'nodenext' })).split('\n').filter((line) => line.startsWith('app.ts'))
    expect(lines.map((line) => Number(/app\.ts\((\d+),/.exec(line)?.[1]))).toEqual([3, 4, 5, 6, 7, 8])
  }, 60_000)
})

describe('the packed package', () => {
  const app = join(folder, 'app')
  let server: StandInServer
  beforeAll(async () => {
    server = await startStandInServer()
    mkdirSync(app)
    await run('npm', ['pack', '--silent', '--pack-destination', app], { cwd: packageFolder })
    writeFileSync(join(app, 'package.json'), '{"type":"module"}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./vitascope-sdk-${version}.tgz`], { cwd: app })
    writeFileSync(
      join(app, 'app.js'),
      `import { generateKeyPairSync } from 'node:crypto'
import { Vitascope, VitascopeError, verifyWebhook } from '@vitascope/sdk'
const vitascope = new Vitascope({ url: process.argv[2], key: 'a-key' })
const ids = []
for await (const { video_id } of vitascope.videos.list()) ids.push(video_id)
const { privateKey } = generateKeyPairSync('ed25519', { privateKeyEncoding: { type: 'pkcs8', format: 'pem' }, publicKeyEncoding: { type: 'spki', format: 'pem' } })
const token = await vitascope.playback.sign({ videoId: '1' }, { id: '2', privateKey })
const codes = []
for (const call of [() => vitascope.videos.upload('none.mp4'), () => vitascope.videos.get('1'), () => verifyWebhook('', {}, 'whsec_c2VjcmV0')])
  await call().catch((error) => codes.push(error instanceof VitascopeError && error.code))
console.log(JSON.stringify({ ids, parts: token.split('.').length, codes }))
`,
    )
  }, 60_000)
  afterAll(() => server?.close())

  test('has the build, the README and the licence only', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: packageFolder })
    const [{ files, size }] = JSON.parse(stdout) as [{ files: { path: string }[]; size: number }]
    expect(files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'))).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(size).toBeLessThan(150_000)
    expect(JSON.parse(readFileSync(join(app, 'node_modules/@vitascope/sdk/package.json'), 'utf8'))).not.toHaveProperty('dependencies')
  })

  const nodes = [
    ['the Node.js of the repository', process.execPath],
    ...(oldestNodePath() ? [['Node.js 20', oldestNodePath() ?? '']] : []),
  ] as [string, string][]
  test.each(nodes)('is installed without a registry, and works in %s', async (_, node) => {
    server.answer(({ path }) =>
      path.startsWith('/v2/video?')
        ? { body: { start: 1, total_num_of_records: 1, videos: [{ video_id: '1' }] } }
        : problem(404, 'video_not_found'),
    )
    const { stdout } = await run(node, ['app.js', server.url], { cwd: app })
    expect(JSON.parse(stdout)).toEqual({ ids: ['1'], parts: 3, codes: ['invalid_argument', 'video_not_found', 'webhook_invalid'] })
  })
})
