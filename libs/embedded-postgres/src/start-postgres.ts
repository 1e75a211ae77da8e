import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { type Binaries, findBinaries } from './binaries.ts'
import { freePort } from './free-port.ts'
import { explainFailure, PostgresError } from './postgres-error.ts'
import { findBackends, findPostmaster, isAlive, ownerSetting, processIdentity } from './postmaster-file.ts'
import { serverEnvironment, serverUser } from './server-user.ts'

/** Options for starting a server on a folder that `initDatabase` created. */
export interface StartOptions {
  dir: string
  /** Any free port if it is 0 or undefined. */
  port?: number
  /** The password that the cluster was created with. Undefined for throw-away data. */
  password?: string
  /**
   * Whether an acknowledged write survives a crash of the server and of the machine. True by default. False is for
   * throw-away data only.
   */
  durable?: boolean
  /** Further settings of the server, which replace those of this library. */
  settings?: Readonly<Record<string, string>>
  /** Folder of the server programs. By default, those of the installed package. */
  binDir?: string
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
   * Stops the server: rolls back open transactions and writes committed data to disk. With `immediate` the next start
   * recovers the data instead.
   */
  stop(options?: { immediate?: boolean }): Promise<void>
}

/** Error messages of a start while processes of a killed server still use its shared memory. They end within seconds. */
const SHARED_MEMORY_IN_USE = /lock file "postmaster\.pid" already exists|pre-existing shared memory block/
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000

/**
 * Starts the server and waits until it accepts connections, including recovery. A server that already runs on the
 * folder is stopped if the process that started it has ended. Throws DATA_IN_USE if that process is running.
 */
export async function startPostgres(options: StartOptions, signal?: AbortSignal): Promise<RunningPostgres> {
  const dir = resolve(options.dir)
  const binaries = findBinaries(options.binDir)
  const log = options.log ?? (() => {})
  const start = Date.now()
  for (;;) {
    signal?.throwIfAborted()
    await stopRunningServer(dir, log, signal)
    const port = options.port || (await freePort())
    const result = await launch(binaries, { ...options, dir, port, log }, signal)
    if ('running' in result) return result.running

    const waitedMs = Date.now() - start
    const isMemoryInUse = result.lines.some((line) => SHARED_MEMORY_IN_USE.test(line))
    const isPortInUse = !options.port && explainFailure(result.lines, { dir, port }).problem === 'PORT_IN_USE'
    if ((!isMemoryInUse && !isPortInUse) || waitedMs > START_TIMEOUT_MS) throw explainFailure(result.lines, { dir, port })
    // Backend processes of a killed server end by themselves within three seconds. This stops those that have not
    // ended by then.
    if (isMemoryInUse && waitedMs > 3_000 && !findPostmaster(dir)) for (const pid of findBackends(dir)) signalProcess(pid, 'SIGQUIT')
    await delay(200, undefined, { ...(signal ? { signal } : {}) })
  }
}

async function stopRunningServer(dir: string, log: (line: string) => void, signal: AbortSignal | undefined): Promise<void> {
  const server = findPostmaster(dir)
  if (!server) return
  if (server.owner !== undefined) {
    throw new PostgresError('DATA_IN_USE', `${dir} is in use: process ${server.owner} runs PostgreSQL (process ${server.pid}) on it`)
  }
  log(`stopping PostgreSQL ${server.pid}, whose parent process has ended`)
  for (const stopSignal of ['SIGINT', 'SIGQUIT'] as const) {
    signalProcess(server.pid, stopSignal)
    const deadline = Date.now() + STOP_TIMEOUT_MS
    while (Date.now() < deadline) {
      if (!isAlive(server.pid)) return
      await delay(50, undefined, { ...(signal ? { signal } : {}) })
    }
  }
  throw new PostgresError('DATA_IN_USE', `PostgreSQL (process ${server.pid}) still runs on ${dir} and does not stop`)
}

interface LaunchOptions {
  dir: string
  port: number
  password?: string
  durable?: boolean
  settings?: Readonly<Record<string, string>>
  log: (line: string) => void
}

type LaunchResult = { running: RunningPostgres } | { lines: string[] }

async function launch(binaries: Binaries, options: LaunchOptions, signal: AbortSignal | undefined): Promise<LaunchResult> {
  const [command = binaries.postgres, ...args] = [...serverUser(options.dir), binaries.postgres, ...serverArguments(options)]
  // A separate process group: Ctrl-C signals only this process, which stops the services before the database.
  const child = spawn(command, args, { cwd: '/', env: serverEnvironment, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }))
    child.once('exit', (code, endSignal) => resolve({ code, signal: endSignal }))
  })
  const lines: string[] = []
  let ready = false
  const acceptsConnections = new Promise<boolean>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      options.log(line)
      // Lines after the start are only logged.
      if (ready) return
      lines.push(line)
      ready = /database system is ready to accept (read-only )?connections/.test(line)
      if (ready) resolve(true)
    })
    child.once('error', (error) => {
      lines.push(error.message)
      resolve(false)
    })
    // Waits for `close`, because the last output arrives after `exit`.
    child.once('close', () => resolve(false))
  })
  const abort = () => child.kill('SIGINT')
  signal?.addEventListener('abort', abort, { once: true })
  const started = await acceptsConnections
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

function serverArguments({ dir, port, durable = true, settings: ownSettings = {} }: LaunchOptions): string[] {
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
    ...ownSettings,
    [ownerSetting]: processIdentity(),
  }
  return ['-D', dir, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function stopChild(child: ChildProcess, exited: RunningPostgres['exited'], firstSignal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  for (const stopSignal of [firstSignal, 'SIGQUIT', 'SIGKILL'] as const) {
    child.kill(stopSignal)
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
