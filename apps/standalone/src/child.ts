import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { backoff, type LogPrinter, StartError } from '@vitascope/platform'

/** How to run a service as a process. */
export interface ChildSpec {
  name: string
  /** The file that Node runs. */
  main: string
  env: Record<string, string>
  /** Node options. */
  options?: readonly string[]
}

/** A service process that is restarted whenever it ends. */
export interface Child {
  name: string
  pid(): number | undefined
  /** Resolves when the service is first ready. Rejects if the service rejects its settings. */
  ready: Promise<void>
  /** Sends SIGTERM, then SIGKILL after the grace period. */
  stop(): Promise<void>
}

const GRACE_MS = 7_000
/** After this time a process counts as healthy, and its next crash as the first one. */
const HEALTHY_MS = 30_000

export function superviseChild(spec: ChildSpec, print: LogPrinter): Child {
  const stopping = new AbortController()
  let current: ChildProcess | undefined
  let settle: { ready: () => void; fail: (error: Error) => void } = { ready: () => {}, fail: () => {} }
  const ready = new Promise<void>((resolve, reject) => {
    settle = { ready: resolve, fail: reject }
  })
  ready.catch(() => {})

  const runUntilStopped = async () => {
    for (let crashes = 0; !stopping.signal.aborted; ) {
      const startTime = Date.now()
      const process = launch(spec, print)
      current = process
      process.on('message', (message: { ready?: string; configProblems?: string[] }) => {
        if (message.ready) settle.ready()
        if (message.configProblems) settle.fail(new StartError(message.configProblems.join('\n')))
      })
      const { code, signal } = await waitForExit(process)
      if (stopping.signal.aborted) return
      crashes = Date.now() - startTime > HEALTHY_MS ? 1 : crashes + 1
      print.own('warn', `${spec.name} ended (${signal ?? `exit ${code}`}): restarting it`)
      await backoff(crashes, stopping.signal)
    }
  }
  const living = runUntilStopped()

  return {
    name: spec.name,
    pid: () => current?.pid,
    ready,
    async stop() {
      stopping.abort()
      current?.kill('SIGTERM')
      const timer = setTimeout(() => current?.kill('SIGKILL'), GRACE_MS)
      await living
      clearTimeout(timer)
    },
  }
}

function launch(spec: ChildSpec, print: LogPrinter): ChildProcess {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...(spec.options ?? []), spec.main], {
    env: spec.env,
    // A separate process group, so that Ctrl-C reaches only the supervisor, which stops the
    // services in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => print.line(spec.name, line))
  }
  return child
}

function waitForExit(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', () => resolve({ code: null, signal: null }))
  })
}
