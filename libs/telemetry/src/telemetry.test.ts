import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { createLogger } from './log.ts'
import { createMetrics, serveMetrics } from './metrics.ts'

const LOG = fileURLToPath(new URL('./log.ts', import.meta.url))

test('a log line is JSON with time, level and service, and fields named like secrets are omitted', () => {
  const program = `const { createLogger } = await import(${JSON.stringify(LOG)})
    createLogger({ service: 'x' }).warn({ key: 'vs_1', user: { password: 'p4ss' }, request_id: 'r' }, 'done')`
  const { stdout } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect(JSON.parse(stdout)).toMatchObject({ level: 'warn', service: 'x', msg: 'done', request_id: 'r', key: '[secret]' })
  expect(stdout).not.toMatch(/vs_1|p4ss/)
})

test.each([
  ['an error', `log.error('done')`],
  ['a fatal fault', `log.fatal('done')`],
])('%s in a log that is no longer read does not keep a process from exiting', async (_, logCall) => {
  const program = `const { createLogger } = await import(${JSON.stringify(LOG)})
    const log = createLogger({ service: 'x' })
    log.info('ready')
    process.once('message', () => { ${logCall}; ${logCall}; process.exit(7) })
    process.send('ready')`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit')
  await once(child, 'message')
  // The pipe contains an unread line: the first write fails with a reset connection, later ones with a broken pipe.
  child.stdout?.destroy()
  await once(child.stdout as NodeJS.ReadableStream, 'close')
  child.send('go on')
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  expect(await ended).toEqual([7, null])
  clearTimeout(timer)
})

test('metrics, liveness and readiness are served, and nothing else', async () => {
  let ready = true
  const metrics = createMetrics('catalogue')
  metrics.counter('vitascope_things_total', 'Things', ['kind']).inc({ kind: 'a' }, 2)
  metrics.gauge('vitascope_depth', 'Depth', [], (gauge) => gauge.set(7))
  const page = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 }, createLogger({ service: 'x', level: 'silent' }), () => ready)
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${page.port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  const { text } = await get('/metrics')
  expect(text).toContain('vitascope_things_total{kind="a",service="catalogue"} 2')
  expect(text).toContain('vitascope_depth{service="catalogue"} 7')
  const statuses = () => Promise.all(['/healthz', '/readyz', '/', '/constructor'].map(async (path) => (await get(path)).status))
  expect(await statuses()).toEqual([200, 200, 404, 404])
  ready = false
  expect(await statuses()).toEqual([200, 503, 404, 404])
  await page.close()
})
