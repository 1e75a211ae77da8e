import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { runCommand } from './support/command.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant } from './support/video-steps.ts'

const PROGRAM = join(import.meta.dirname, '../packages/cli/dist/vitascope.js')

let folder: string
let clip: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let home: NodeJS.ProcessEnv
const children = new Set<ChildProcess>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-'))
  sources = await startSourceServer(folder)
  clip = join(folder, await makeSource(folder, 'small.mp4'))
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  home = { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: join(folder, 'state') }
}, 120_000)
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...home, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}
const run = async (args: readonly string[], { env, input = '' }: { env?: NodeJS.ProcessEnv; input?: string } = {}) => {
  const child = start(args, env)
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, output, errors }
}
const lines = (output: string) =>
  output
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>)

test('a login checks the key and stores it for this user only', async () => {
  const wrong = await run(['login', platform.url], { input: 'vs_wrong' })
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringMatching(/^error: .+/)])
  const missing = await run(['login', 'http://127.0.0.1:9'], { input: 'vs_wrong' })
  expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining('127.0.0.1:9')])
  const { code, output } = await run(['login', `${platform.url}/`], { input: `${tenant.key}\n` })
  expect([code, output]).toEqual([0, expect.stringContaining(tenant.organisationId)])
  const file = join(folder, 'config/vitascope/config.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ url: platform.url, key: tenant.key, organisation: tenant.organisationId })
}, 30_000)

test('files and folders are uploaded, and one that fails does not stop the others', async () => {
  await mkdir(join(folder, 'films'), { recursive: true })
  await writeFile(join(folder, 'films/empty.mp4'), '')
  await writeFile(join(folder, 'films/notes.txt'), 'no film')
  await writeFile(join(folder, 'films/good.mp4'), await readFile(clip))
  const { code, output } = await run(['--json', 'upload', join(folder, 'films')])
  const rows = lines(output)
  expect(rows.map(({ file }) => file?.split('/').at(-1))).toEqual(['empty.mp4', 'good.mp4'])
  expect(rows.map(({ video_id, error }) => [video_id !== '', error !== ''])).toEqual([
    [false, true],
    [true, false],
  ])
  expect(code).toBe(1)
}, 60_000)

test('a video is uploaded, encoded, listed, changed, explained and deleted', async () => {
  const uploaded = await run(['--json', 'upload', clip, '--title', 'Launch day', '--visibility', 'unlisted', '--wait'])
  expect([uploaded.code, uploaded.errors]).toEqual([0, ''])
  const id = lines(uploaded.output)[0]?.['video_id'] ?? ''
  const table = await run(['videos', 'list', '--query', 'launch'])
  expect(table.output).toMatch(new RegExp(`^video id +title +state +created\n${id} +Launch day +ok +\\S+`))
  expect((await run(['videos', 'update', id, '--title', 'Launch evening'])).code).toBe(0)
  expect((await run(['videos', 'show', id])).output).toMatch(/^title +Launch evening$/m)
  const allowed = await run(['rules', 'explain', id, '--address', '192.0.2.1'])
  expect([allowed.code, allowed.output]).toEqual([0, expect.stringMatching(/^allowed +true$/m)])
  // The video is ready all the time, so the command waits for the job of the replacement.
  const { media_id = '' } = (await platform.withKey(tenant.key).get<{ media_id?: string }>(`/video/${id}`)).body
  const broken = join(folder, 'broken.mp4')
  await writeFile(broken, 'no film')
  const replaced = await run(['--json', 'upload', broken, '--replace', media_id, '--wait'])
  expect([replaced.code, lines(replaced.output)]).toEqual([
    1,
    [expect.objectContaining({ error: expect.stringMatching(/^job \d+ failed: 4\d+/) })],
  ])
  const checked = await run(['doctor'])
  expect([checked.code, checked.output]).toEqual([0, expect.stringMatching(/^ok +services +all are ready$/m)])
  expect((await run(['videos', 'delete', id])).code).toBe(0)
  const gone = await run(['--json', 'videos', 'show', id])
  expect([gone.code, JSON.parse(gone.errors)]).toEqual([1, expect.objectContaining({ code: 'video_not_found', status: 404 })])
}, 150_000)

test('captions are added, and a protected video is watched with a token', async () => {
  const api = platform.withKey(tenant.key)
  const uploaded = await run(['--json', 'upload', clip, '--wait'])
  const id = lines(uploaded.output)[0]?.['video_id'] ?? ''
  const file = join(folder, 'german.VTT')
  await writeFile(file, 'WEBVTT\n\n00:01.000 --> 00:02.000\nGuten Abend\n')
  const added = await run(['--json', 'captions', 'add', id, file, '--language', 'de'])
  expect([added.code, lines(added.output)]).toEqual([0, [expect.objectContaining({ video_id: id, title: 'Deutsch', lines: 1 })]])
  expect((await api.get<{ captions: object }>(`/video/${id}`)).body.captions).toMatchObject({
    data: [{ title: 'Deutsch', language: 'de' }],
  })
  const wrong = await run(['captions', 'add', id, clip, '--language', 'de'])
  expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('no ending of a caption file')])

  expect((await run(['videos', 'update', id, '--require-token'])).code).toBe(0)
  const token = await run(['--json', 'videos', 'token', id, '--expires-in', '600'])
  const [{ hls = '', player = '' } = {}] = lines(token.output)
  expect([token.code, player]).toEqual([0, expect.stringContaining(`${platform.url}/player/${id}?token=`)])
  await waitFor(async () => (await fetch(hls.replace(/[?].*/, ''))).status === 403, { describe: 'the playlist to require a token' })
  expect((await fetch(hls)).status).toBe(200)
  expect((await run(['videos', 'update', id, '--no-require-token'])).code).toBe(0)
  expect((await api.get<{ security: object }>(`/video/${id}`)).body.security).toMatchObject({ token_required_platform: false })
}, 90_000)

test('an interrupted upload continues where it ended', async () => {
  const large = join(folder, 'large.mp4')
  await writeFile(large, Buffer.concat([await readFile(clip), Buffer.alloc(200_000_000)]))
  const state = join(folder, 'state/vitascope/uploads.json')
  const child = start(['upload', large])
  const isStored = async () => {
    const stored = Object.values(JSON.parse(await readFile(state, 'utf8').catch(() => '{}')) as Record<string, string>)
    if (stored[0] === undefined) return false
    const response = await fetch(`${platform.url}/v2/upload/tus/${stored[0]}`, {
      method: 'HEAD',
      headers: { 'tus-resumable': '1.0.0', authorization: `Basic ${btoa(`${tenant.key}:x`)}` },
    })
    return Number(response.headers.get('upload-offset')) > 0
  }
  await waitFor(isStored, { timeout: 30_000, describe: 'the first part to be stored' })
  child.kill('SIGKILL')
  const { code, output } = await run(['--json', 'upload', large])
  expect([code, lines(output)[0]?.['video_id']]).toEqual([0, expect.stringMatching(/^\d+$/)])
  expect(JSON.parse(await readFile(state, 'utf8'))).toEqual({})
}, 120_000)

test('a file whose interrupted upload the platform has removed is sent from its start', async () => {
  const { size, mtimeMs } = await stat(clip)
  const state = join(folder, 'state/vitascope/uploads.json')
  await mkdir(dirname(state), { recursive: true })
  await writeFile(state, JSON.stringify({ [`${platform.url} ${clip} ${size} ${mtimeMs}`]: randomUUID() }))
  const { code, output } = await run(['--json', 'upload', clip])
  expect([code, lines(output)[0]?.['video_id']]).toEqual([0, expect.stringMatching(/^\d+$/)])
  expect(JSON.parse(await readFile(state, 'utf8'))).toEqual({})
}, 60_000)

test('events are printed and forwarded with their signature, and the webhook is deleted at the end', async () => {
  const forwarded: [event: string, signature: unknown][] = []
  const receiver = createServer(async (request, response) => {
    forwarded.push([(JSON.parse(await text(request)) as { type: string }).type, request.headers['webhook-signature']])
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const child = start(['--json', 'webhooks', 'listen', '--forward', url])
  let printed = ''
  child.stdout.on('data', (bytes: Buffer) => {
    printed += bytes.toString()
  })
  const webhooks = async () => lines((await run(['--json', 'webhooks', 'list'])).output)
  await waitFor(async () => (await webhooks()).length === 1, { timeout: 20_000, describe: 'the webhook' })
  const [{ webhook_id: id = '' } = {}] = await webhooks()
  await platform.withKey(tenant.key).post(`/webhook/${id}/test`, {})
  await waitFor(() => printed.includes('\n') && forwarded.length > 0, { timeout: 30_000, describe: 'the event' })
  expect(lines(printed)[0]).toMatchObject({ type: 'webhook.test' })
  expect(forwarded[0]).toEqual(['webhook.test', expect.stringMatching(/^v1,/)])
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGINT')
  await ended
  expect(await webhooks()).toEqual([])
  receiver.close()
}, 90_000)

test('keys, users and views are listed', async () => {
  expect((await run(['users', 'list'])).output).toMatch(/^user id +email/)
  const system = ['--json', '--key', SYSTEM_KEY]
  const created = await run([...system, 'keys', 'create', tenant.userId, '--name', 'from the shell', '--resource', 'video::get'])
  expect([created.code, created.errors]).toEqual([0, ''])
  const preset = await run([...system, 'keys', 'create', tenant.userId, '--name', 'reports', '--preset', 'read'])
  expect(lines(preset.output)[0]).toMatchObject({ resources: expect.arrayContaining(['video::get', 'webhook::get']) })
  expect((await run([...system, 'keys', 'create', tenant.userId, '--name', 'none'])).code).toBe(2)
  const keys = await run([...system, 'keys', 'list', tenant.userId])
  expect([keys.code, keys.errors, lines(keys.output).some(({ application_name }) => application_name === 'from the shell')]).toEqual([
    0,
    '',
    true,
  ])
  expect((await run(['analytics'])).output).toMatch(/^video_plays +\d+$/m)
}, 60_000)

test.each([
  [['videos', 'show'], "missing required argument 'video'"],
  [['videos', 'list', '--limit', '0'], 'It must be an integer from 1'],
  [['upload', '/no/such/file'], '/no/such/file cannot be read: ENOENT'],
  [['rules', 'explain', '7', '--kind', 'film', '--address', '192.0.2.1'], 'Allowed choices are page, manifest'],
  [['viedos'], "unknown command 'viedos'"],
])('vitascope %j is a wrong call', async (args, message) => {
  const { code, errors } = await run(args)
  expect([code, errors]).toEqual([2, expect.stringContaining(message)])
})

test('commands on the data of a platform run in its checkout', async () => {
  const env = { VITASCOPE_HOME: join(import.meta.dirname, '..'), VITASCOPE_DATA_DIR: platform.dataDir }
  const { code, output } = await run(['--json', 'sweep', '--dry-run'], { env })
  expect(code).toBe(0)
  expect(lines(output).at(-1)).toMatchObject({ summary: { orphans: 0 } })
  // The help lists every command of the checkout.
  const { output: help } = await run(['--help'])
  const { stdout } = await runCommand('--help', [], {})
  const names = stdout.split('\n').flatMap((line) => /^ {2}([a-z-]+) {2}/.exec(line)?.[1] ?? [])
  expect(names).toContain('backup')
  expect(names.filter((name) => !help.includes(`  ${name} [arguments...]`))).toEqual([])
  expect((await run(['backup', '--help'], { env })).output).toContain('usage: vitascope backup --to DIR')
  expect(await run(['backup'], { env: { VITASCOPE_HOME: folder } })).toMatchObject({ code: 2, output: '' })
})

test.each(['bash', 'zsh', 'fish'])('the completion of %s lists commands', async (shell) => {
  const { code, output } = await run(['completion', shell])
  expect([code, output]).toEqual([0, expect.stringContaining('upload')])
})

test('bash completes commands and options', async () => {
  const { output: script } = await run(['completion', 'bash'])
  const probe = `${script}\nCOMP_WORDS=(vitascope videos up); COMP_CWORD=2; _vitascope; echo "\${COMPREPLY[@]}"`
  const shell = spawn('bash', ['-c', probe], { stdio: ['ignore', 'pipe', 'inherit'] })
  expect((await text(shell.stdout)).trim()).toBe('update')
})

test('without a login the error says what to do', async () => {
  const { code, errors } = await run(['videos', 'list'], { env: { XDG_CONFIG_HOME: join(folder, 'without-login') } })
  expect([code, errors]).toEqual([2, expect.stringContaining('vitascope login')])
})
