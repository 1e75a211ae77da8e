// Faults: C22, C31
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { extendTimeout, recordFigure, waitFor } from '@vitascope/testing'

const START = fileURLToPath(new URL('../../../tools/start.ts', import.meta.url))
/** The command that `npm start` runs. */
const NPM_START_COMMAND = [process.execPath, '--disable-warning=ExperimentalWarning', START]
let folder: string
let ports: { VITASCOPE_PORT: string; VITASCOPE_OPS_PORT: string }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-start-'))
  ports = { VITASCOPE_PORT: String(await freePort()), VITASCOPE_OPS_PORT: String(await freePort()) }
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

/** Starts the command of `npm start`, or another command, as a separate process. */
function start(env: Record<string, string> = {}, [command = '', ...args]: readonly string[] = NPM_START_COMMAND) {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITASCOPE_')))
  const child = spawn(command, args, {
    env: { ...inherited, VITASCOPE_DATA_DIR: folder, ...ports, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data))
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const allEnded = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    pid: child.pid ?? 0,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    ended,
    /** Resolves when the process and its descendants, which share its output, have ended. */
    allEnded,
    output: () => output,
    ready: () =>
      waitFor(() => output.includes('Vitascope is ready') || child.exitCode !== null, {
        timeout: 60_000,
        describe: 'the start-up table',
      }).then(() => {
        if (!output.includes('Vitascope is ready')) throw new Error(output)
      }),
  }
}

describe('npm start', () => {
  test('prints one table, leaves the key in a file of mode 0600, and ends within 10 s of Ctrl-C without a process left', async () => {
    const first = start()
    await first.ready()
    expect(first.output()).toContain(`http://127.0.0.1:${ports.VITASCOPE_PORT}/docs`)
    const file = join(folder, 'system-key')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const key = (await readFile(file, 'utf8')).trim()
    expect(key).toMatch(/^vs_[A-Za-z0-9]{38}$/)
    expect(first.output()).not.toContain(key)
    const response = await fetch(`http://127.0.0.1:${ports.VITASCOPE_PORT}/v2/organisation/1`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
    const metrics = async () => (await fetch(`http://127.0.0.1:${ports.VITASCOPE_OPS_PORT}/metrics`)).text()
    // The platform is ready before the worker, which first tests its sandbox.
    await waitFor(async () => (await metrics()).includes('up{service="worker"} 1'), { timeout: 30_000, describe: 'the worker to be up' })
    for (const name of ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics', 'worker', 'delivery', 'gateway'])
      expect(await metrics()).toContain(`up{service="${name}"} 1`)

    const second = start({ VITASCOPE_PORT: String(await freePort()), VITASCOPE_OPS_PORT: String(await freePort()) })
    expect(await second.ended).toBe(1)
    expect(second.output()).toMatch(/Vitascope did not start: Vitascope already runs on .* \(process \d+\)/)
    expect((await fetch(`http://127.0.0.1:${ports.VITASCOPE_PORT}/readyz`)).status).toBe(200)

    const began = Date.now()
    first.kill('SIGINT')
    await waitFor(() => first.output().includes('SIGINT: stopping'), { describe: 'the stop to begin' })
    // The terminal, npm and the wrapper each forward the same Ctrl-C, so the signal arrives several times.
    first.kill('SIGINT')
    expect(await first.ended).toBe(0)
    const stopMs = Date.now() - began
    recordFigure('C22', `the platform stopped in ${(stopMs / 1_000).toFixed(1)} s`)
    expect(stopMs).toBeLessThan(extendTimeout(10_000))
    await expect(fetch(`http://127.0.0.1:${ports.VITASCOPE_PORT}/healthz`)).rejects.toThrow()
  }, 120_000)

  test('prints a link for the first user, which works once and until a restart, and none after the first sign-in', async () => {
    const api = `http://127.0.0.1:${ports.VITASCOPE_PORT}/v2`
    const findLink = (output: string) => /Sign in +(http:\S+)\/console\/sign-in#link=([\w-]+)&first \(once, within a day\)/.exec(output)
    const post = async (path: string, payload: object) => {
      const headers = { 'content-type': 'application/json', origin: new URL(api).origin }
      const response = await fetch(`${api}${path}`, { method: 'POST', headers, body: JSON.stringify(payload) })
      return { response, body: (await response.json()) as { code?: string; user?: object } }
    }
    const password = 'correct horse battery'
    const stop = async (platform: ReturnType<typeof start>) => {
      platform.kill('SIGTERM')
      expect(await platform.ended).toBe(0)
    }

    const first = start()
    await first.ready()
    const [, origin, replaced = ''] = findLink(first.output()) ?? []
    expect(origin).toBe(new URL(api).origin)
    await stop(first)

    const second = start()
    await second.ready()
    const [, , link = ''] = findLink(second.output()) ?? []
    expect(link).toMatch(/^[\w-]{43}$/)
    expect(link).not.toBe(replaced)
    for (const wrong of [replaced, 'x'.repeat(43)]) {
      const { response, body } = await post('/session/link', { link: wrong, password })
      expect([response.status, body.code]).toEqual([403, 'link_invalid'])
    }
    const { response, body } = await post('/session/link', { link, password, first_name: 'Ada' })
    expect([response.status, body]).toMatchObject([201, { user: { email: 'admin@localhost', first_name: 'Ada', user_type: 'system' } }])
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
    expect((await fetch(`${api}/organisation/all`, { headers: { cookie } })).status).toBe(200)
    expect((await post('/session/link', { link, password })).body.code).toBe('link_invalid')
    expect((await post('/session', { email: 'admin@localhost', password })).response.status).toBe(201)
    await stop(second)

    const third = start()
    await third.ready()
    expect(third.output()).not.toContain('Sign in')
    await stop(third)
  }, 240_000)

  test('ends when npm receives the signal', async () => {
    const npm = start({}, ['npm', 'start', '--prefix', dirname(dirname(START))])
    await npm.ready()
    npm.kill('SIGTERM')
    await npm.allEnded
    const next = start()
    await next.ready()
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  }, 120_000)

  test('resumes after kill -9 with the same key', async () => {
    const first = start()
    await first.ready()
    first.kill('SIGKILL')
    await first.ended
    // The services end when they detect that their supervisor has ended. Until then the port is in use.
    await waitFor(async () => (await fetch(`http://127.0.0.1:${ports.VITASCOPE_PORT}/healthz`).catch(() => undefined)) === undefined, {
      timeout: 15_000,
      describe: 'the services to end',
    })
    const next = start()
    await next.ready()
    const key = (await readFile(join(folder, 'system-key'), 'utf8')).trim()
    const response = await fetch(`http://127.0.0.1:${ports.VITASCOPE_PORT}/v2/organisation/1`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  }, 120_000)
})

describe('a start that cannot succeed ends with one line', () => {
  test.each([
    ['an unknown setting', { VITASCOPE_COLOUR: 'red' }, 'VITASCOPE_COLOUR is not a setting'],
    ['a bad port', { VITASCOPE_PORT: '99999' }, 'VITASCOPE_PORT must be an integer'],
    ['a short system key', { VITASCOPE_SYSTEM_KEY: 'short' }, 'VITASCOPE_SYSTEM_KEY must have 20 to 128 characters'],
    ['a data folder that is a file', { VITASCOPE_DATA_DIR: START }, 'is not a folder'],
    ['bad limits', { VITASCOPE_LIMITS: '{"key":' }, 'VITASCOPE_LIMITS'],
    ['a bad Redis', { VITASCOPE_REDIS_URL: 'foo' }, 'VITASCOPE_REDIS_URL must be a URL'],
    ['no days of audit', { VITASCOPE_AUDIT_DAYS: '0' }, 'VITASCOPE_AUDIT_DAYS must be an integer'],
    [
      'an ffmpeg that does not exist',
      { VITASCOPE_FFMPEG: '/nowhere/ffmpeg' },
      '/nowhere/ffmpeg does not exist or is not executable; name an ffmpeg',
    ],
    ['an ffmpeg without ffprobe', { VITASCOPE_FFMPEG: process.execPath }, '/ffprobe does not exist or is not executable; name an ffmpeg'],
    ['a bad network', { VITASCOPE_SOURCE_ALLOW: '300.0.0.0/8' }, 'VITASCOPE_SOURCE_ALLOW'],
  ])(
    '%s',
    async (_, env, sentence) => {
      const failed = start(env)
      expect(await failed.ended).toBe(1)
      expect(failed.output()).toContain(sentence)
      expect(failed.output()).not.toMatch(/\n\s+at /)
    },
    60_000,
  )

  test('a full disk', async () => {
    // A separate disk of 16 MB, in a mount namespace that ends with the process.
    const namespaces = process.getuid?.() === 0 ? ['-m'] : ['-rm']
    const mount = 'mount -t tmpfs -o size=16m tmpfs "$VITASCOPE_DATA_DIR" && exec "$@"'
    const failed = start({}, ['unshare', ...namespaces, 'sh', '-c', mount, 'sh', ...NPM_START_COMMAND])
    expect(await failed.ended).toBe(1)
    expect(failed.output()).toMatch(/the disk of .* is full \(\d+ MB free\): free at least 256 MB/)
  }, 30_000)

  test('a port in use', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    const address = blocker.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const failed = start({ VITASCOPE_PORT: String(port) })
    expect(await failed.ended).toBe(1)
    expect(failed.output()).toContain(`port ${port} is in use: set VITASCOPE_PORT`)
    blocker.close()
  }, 30_000)
})
