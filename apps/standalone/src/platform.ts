import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { FfmpegNotFound, findFfmpeg } from '@vitascope/media'
import { type LogPrinter, migrateAll, openDataFolder, type PlatformConfig, STATEFUL, StartError, startDatabase } from '@vitascope/platform'
import { roleSettings } from '@vitascope/postgres'
import { type Child, superviseChild } from './child.ts'
import { createFirstUserLink } from './first-user-link.ts'
import { serveMetricsPage } from './metrics-page.ts'
import { planServices } from './services.ts'

/** A running platform: all services of this machine. */
export interface Platform {
  url: string
  metricsUrl: string
  dataDir: string
  systemKeyFile: string
  /** Link by which the first user signs in. Undefined if a user has signed in already. */
  firstUserLink: string | undefined
  /** Current process id of a service, or of the embedded database (`postgres`). */
  pid(name: string): number | undefined
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 120_000

/**
 * Starts the database, runs the migrations and starts the services. Waits until every service is ready
 * and the gateway reports that all its dependencies are available.
 */
export async function startPlatform(config: PlatformConfig, print: LogPrinter): Promise<Platform> {
  const cleanups: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp()
  }
  try {
    const folder = await openDataFolder(config)
    cleanups.push(folder.release)
    await requireFreePort(config.host, config.port, 'VITASCOPE_PORT')
    await requireFreePort(config.host, config.opsPort, 'VITASCOPE_OPS_PORT')
    await requireFfmpeg(config.forwardedEnvironment['VITASCOPE_FFMPEG'])
    const database = await startDatabase({
      folder,
      databaseUrl: config.databaseUrl,
      roleSettings: config.poolerUrl === undefined ? undefined : roleSettings,
      services: STATEFUL,
      print,
    })
    cleanups.push(database.stop)
    const plan = await planServices(config, folder, database.urls)
    await migrateAll(config, database.urls, print)
    const metrics = await serveMetricsPage({ host: config.host, port: config.opsPort }, plan.metrics)
    cleanups.push(metrics.stop)
    const children = plan.services.map((spec) => superviseChild(spec, print))
    cleanups.push(() => stopChildren(children))
    const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
    const [firstUserLink] = await Promise.all([
      createFirstUserLink(config, `${database.urls['auth']}`),
      waitUntilReady(`${url}/readyz`),
      ...children.map(waitForChild),
    ])
    return {
      url,
      metricsUrl: `http://${config.host}:${config.opsPort}/metrics`,
      dataDir: folder.path,
      systemKeyFile: plan.systemKeyFile,
      firstUserLink,
      pid: (name) => (name === 'postgres' ? database.pid() : children.find((child) => child.name === name)?.pid()),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Stops the gateway first, so that no requests arrive, and the worker, which releases its tasks to
 * encoding. Then it stops all others in parallel.
 */
async function stopChildren(children: readonly Child[]): Promise<void> {
  await Promise.all(children.filter(({ name }) => name === 'gateway' || name === 'worker').map((child) => child.stop()))
  await Promise.all(children.map((child) => child.stop()))
}

/** Waits until the service is ready. Throws if the service rejects its settings, and `StartError` after 120 s. */
async function waitForChild(child: Child): Promise<void> {
  const timeout = new AbortController()
  const late = delay(READY_TIMEOUT_MS, undefined, { signal: timeout.signal }).then(() => {
    throw new StartError(`${child.name} did not become ready within ${READY_TIMEOUT_MS / 1000} s`)
  })
  late.catch(() => {})
  await Promise.race([child.ready, late]).finally(() => timeout.abort())
}

/** Waits until the URL returns a successful status. Throws `StartError` after 120 s. */
async function waitUntilReady(url: string): Promise<void> {
  const until = Date.now() + READY_TIMEOUT_MS
  let last = 'it does not respond'
  while (Date.now() < until) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
      if (response.ok) return
      last = await response.text()
    } catch {
      // Not listening yet.
    }
    await delay(50)
  }
  throw new StartError(`the platform did not become ready within ${READY_TIMEOUT_MS / 1000} s: ${last}`)
}

/**
 * Throws if ffmpeg is missing. Otherwise the worker would restart forever, and jobs would stay in
 * `probing`.
 */
async function requireFfmpeg(path: string | undefined): Promise<void> {
  await findFfmpeg({ path }).catch((error: unknown) => {
    throw error instanceof FfmpegNotFound ? new StartError(error.message) : error
  })
}

async function requireFreePort(host: string, port: number, setting: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') reject(new StartError(`port ${port} is in use: set ${setting} to a free one`))
      else if (error.code === 'EACCES')
        reject(new StartError(`port ${port} needs more rights than this user has: set ${setting} to one above 1023`))
      else
        reject(new StartError(`${host} is not an address to listen on (${error.code}): set VITASCOPE_HOST to an address of this machine`))
    })
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}
