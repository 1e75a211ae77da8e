import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { type Binaries, findBinaries } from './binaries.ts'
import { freePort } from './free-port.ts'
import { explainFailure, PostgresError } from './postgres-error.ts'
import { findPostmaster, isAlive, ownerSetting, ownName, processesOf } from './postmaster-file.ts'
import { serverEnvironment, serverUser } from './server-user.ts'

/** Options for starting a server on a folder that `initDatabase` created. */
export interface StartOptions {
  dir: string
  /** 0 or undefined: any free port. */
  port?: number
  /** The password that the cluster was created with; undefined for throw-away data. */
  password?: string
  /**
   * True (default): an acknowledged write survives a crash of the server and of the machine. False: for throw-away
   * data only.
   */
  durable?: boolean
  /** Called with each line of the server's output. */
  log?: (line: string) => void
}

/** A server that accepts connections on 127.0.0.1; read-only if the folder belongs to a standby. */
export interface RunningPostgres {
  port: number
  /** URL of the user `postgres` and the database `postgres`, with the password. */
  url: string
  pid: number
  /** Resolves when the server has ended, for any reason. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /**
   * Stops the server: rolls back open transactions and writes committed data. With `immediate` the next start does
   * that by recovery.
   */
  stop(options?: { immediate?: boolean }): Promise<void>
}

/** Messages of a start while processes of a killed server still use its shared memory, for some seconds. */
const SHARED_MEMORY_IN_USE = /lock file "postmaster\.pid" already exists|pre-existing shared memory block/
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000

/**
 * Starts the server and waits until it accepts connections, including recovery. If a server already runs on the
 * folder, it is stopped if the process that started it has ended; if that process is running, this throws.
 */
export async function startPostgres(options: StartOptions, signal?: AbortSignal): Promise<RunningPostgres> {
  const dir = resolve(options.dir)
  const binaries = findBinaries()
  const log = options.log ?? (() => {})
  const start = Date.now()
  for (;;) {
    signal?.throwIfAborted()
    await stopRunningServer(dir, log, signal)
    const port = options.port || (await freePort())
    const outcome = await launch(binaries, { ...options, dir, port, log }, signal)
    if ('running' in outcome) return outcome.running

    const waited = Date.now() - start
    const isInUse = outcome.lines.some((line) => SHARED_MEMORY_IN_USE.test(line))
    const portInUse = !options.port && explainFailure(outcome.lines, { dir, port }).problem === 'PORT_IN_USE'
    if ((!isInUse && !portInUse) || waited > START_TIMEOUT_MS) throw explainFailure(outcome.lines, { dir, port })
    // Backend processes of a killed server end by themselves within three seconds. This stops those that have not
    // ended by then.
    if (isInUse && waited > 3_000 && !findPostmaster(dir)) for (const pid of processesOf(dir)) signalProcess(pid, 'SIGQUIT')
    await delay(200, undefined, { ...(signal ? { signal } : {}) })
  }
}

async function stopRunningServer(dir: string, log: (line: string) => void, signal: AbortSignal | undefined): Promise<void> {
  const found = findPostmaster(dir)
  if (!found) return
  if (found.owner !== undefined) {
    throw new PostgresError('DATA_IN_USE', `${dir} is in use: process ${found.owner} runs PostgreSQL (process ${found.pid}) on it`)
  }
  log(`stopping PostgreSQL ${found.pid}, whose parent process has ended`)
  for (const how of ['SIGINT', 'SIGQUIT'] as const) {
    signalProcess(found.pid, how)
    const until = Date.now() + STOP_TIMEOUT_MS
    while (Date.now() < until) {
      if (!isAlive(found.pid)) return
      await delay(50, undefined, { ...(signal ? { signal } : {}) })
    }
  }
  throw new PostgresError('DATA_IN_USE', `PostgreSQL (process ${found.pid}) still runs on ${dir} and does not stop`)
}

interface Launch {
  dir: string
  port: number
  password?: string
  durable?: boolean
  log: (line: string) => void
}

type Outcome = { running: RunningPostgres } | { lines: string[] }

async function launch(binaries: Binaries, options: Launch, signal: AbortSignal | undefined): Promise<Outcome> {
  const [command = binaries.postgres, ...args] = [...serverUser(options.dir), binaries.postgres, ...serverArguments(options)]
  // A separate process group: Ctrl-C signals only this process, which stops the services before the database.
  const child = spawn(command, args, { cwd: '/', env: serverEnvironment, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((settle) => {
    child.once('error', () => settle({ code: null, signal: null }))
    child.once('exit', (code, by) => settle({ code, signal: by }))
  })
  const lines: string[] = []
  let ready = false
  const accepts = new Promise<boolean>((settle) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      options.log(line)
      // Lines after the start are only logged.
      if (ready) return
      lines.push(line)
      ready = /database system is ready to accept (read-only )?connections/.test(line)
      if (ready) settle(true)
    })
    child.once('error', (error) => {
      lines.push(error.message)
      settle(false)
    })
    // Waits for `close`, because the last output arrives after `exit`.
    child.once('close', () => settle(false))
  })
  const abort = () => child.kill('SIGINT')
  signal?.addEventListener('abort', abort, { once: true })
  const started = await accepts
  signal?.removeEventListener('abort', abort)
  if (signal?.aborted) {
    await stopChild(child, exited, 'SIGINT')
    signal.throwIfAborted()
  }
  if (!started || child.pid === undefined) return { lines }

  const account = options.password === undefined ? 'postgres' : `postgres:${encodeURIComponent(options.password)}`
  return {
    running: {
      port: options.port,
      url: `postgres://${account}@127.0.0.1:${options.port}/postgres`,
      pid: child.pid,
      exited,
      stop: ({ immediate = false } = {}) => stopChild(child, exited, immediate ? 'SIGQUIT' : 'SIGINT'),
    },
  }
}

function serverArguments({ dir, port, durable = true }: Launch): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '',
    log_checkpoints: 'off',
    // Statements may contain secrets, such as a role's password, so the log contains errors without them.
    log_min_error_statement: 'panic',
    [ownerSetting]: ownName(),
  }
  return ['-D', dir, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function stopChild(child: ChildProcess, exited: RunningPostgres['exited'], first: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  for (const how of [first, 'SIGQUIT', 'SIGKILL'] as const) {
    child.kill(how)
    const timeout = new AbortController()
    const ended = await Promise.race([
      exited.then(() => true),
      delay(STOP_TIMEOUT_MS, false, { signal: timeout.signal, ref: false }).catch(() => false),
    ])
    timeout.abort()
    if (ended) return
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // The process has ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
