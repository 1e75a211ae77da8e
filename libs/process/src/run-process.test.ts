import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'

const RUN_PROCESS = fileURLToPath(new URL('./run-process.ts', import.meta.url))
let child: ChildProcess
afterEach(() => void child.kill('SIGKILL'))

/** Starts a service whose modules take `loadMs` to load and which then waits forever, as for an unavailable database. */
function startWaiting(loadMs: number) {
  const program = `await new Promise((resolve) => setTimeout(resolve, ${loadMs}))
    const { runProcess } = await import(${JSON.stringify(RUN_PROCESS)})
    await runProcess('x', () => { console.log('started'); return new Promise(() => setInterval(() => {}, 1_000)) })`
  child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let output = ''
  child.stdout?.on('data', (data: Buffer) => (output += data))
  return { readOutput: () => output, ended: once(child, 'exit') }
}

test('ends with its supervisor, even during its start', async () => {
  const { readOutput, ended } = startWaiting(0)
  await waitFor(() => readOutput().includes('started'))
  child.disconnect()
  expect(await ended).toEqual([0, null])
})

test('ends if its supervisor ended before the process could watch it', async () => {
  const { ended } = startWaiting(500)
  child.disconnect()
  expect(await ended).toEqual([0, null])
}, 10_000)
