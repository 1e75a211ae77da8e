import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { FfmpegNotFound, findFfmpeg } from '@vitascope/media'
import {
  type LogPrinter,
  migrateAll,
  openDataFolder,
  type PlatformConfig,
  STATEFUL,
  StartRefused,
  startDatabase,
} from '@vitascope/platform'
import { type Child, superviseChild } from './child.ts'
import { serveMetricsPage } from './metrics-page.ts'
import { planServices } from './services.ts'

/** The whole platform, running on this machine. */
export interface Platform {
  url: string
  metricsUrl: string
  dataDir: string
  systemKeyFile: string
  /** Current process id of a service, or of the embedded database (`postgres`). */
  pid(name: string): number | undefined
  stop(): Promise<void>
}

const READY_MS = 120_000

/**
 * Starts database, migrations and services. Waits until every service is ready and the gateway
 * reports that it reaches those that it calls.
 */
export async function startPlatform(config: PlatformConfig, print: LogPrinter): Promise<Platform> {
  const undo: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const folder = await openDataFolder(config)
    undo.push(folder.release)
    await portIsFree(config.host, config.port, 'VITASCOPE_PORT')
    await portIsFree(config.host, config.opsPort, 'VITASCOPE_OPS_PORT')
    await requireFfmpeg(config.passedOn['VITASCOPE_FFMPEG'])
    const database = await startDatabase({
      folder,
      databaseUrl: config.databaseUrl,
      services: STATEFUL,
      print,
    })
    undo.push(database.stop)
    const plan = await planServices(config, folder, database.urls)
    await migrateAll(config, database.urls, print)
    const metrics = await serveMetricsPage({ host: config.host, port: config.opsPort }, plan.metrics)
    undo.push(metrics.stop)
    const children = plan.services.map((spec) => superviseChild(spec, print))
    undo.push(() => stopChildren(children))
    const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
    await Promise.all([answers(`${url}/readyz`), ...children.map(isReady)])
    return {
      url,
      metricsUrl: `http://${config.host}:${config.opsPort}/metrics`,
      dataDir: folder.path,
      systemKeyFile: plan.systemKeyFile,
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
 * encoding. Then it stops all others at once.
 */
async function stopChildren(children: readonly Child[]): Promise<void> {
  await Promise.all(children.filter(({ name }) => name === 'gateway' || name === 'worker').map((child) => child.stop()))
  await Promise.all(children.map((child) => child.stop()))
}

/** Waits until the service is ready. Rejects if it rejects its settings, or after 120 s. */
async function isReady(child: Child): Promise<void> {
  const timeout = new AbortController()
  const late = delay(READY_MS, undefined, { signal: timeout.signal }).then(() => {
    throw new StartRefused(`${child.name} did not become ready within ${READY_MS / 1000} s`)
  })
  late.catch(() => {})
  await Promise.race([child.ready, late]).finally(() => timeout.abort())
}

async function answers(url: string): Promise<void> {
  const until = Date.now() + READY_MS
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
  throw new StartRefused(`the platform did not become ready within ${READY_MS / 1000} s: ${last}`)
}

/**
 * Throws if ffmpeg is missing. Otherwise the worker would restart forever, and jobs would stay in
 * `probing`.
 */
async function requireFfmpeg(path: string | undefined): Promise<void> {
  await findFfmpeg({ path }).catch((error: unknown) => {
    throw error instanceof FfmpegNotFound ? new StartRefused(error.message) : error
  })
}

async function portIsFree(host: string, port: number, setting: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') reject(new StartRefused(`port ${port} is in use: set ${setting} to a free one`))
      else if (error.code === 'EACCES')
        reject(new StartRefused(`port ${port} needs more rights than this user has: set ${setting} to one above 1023`))
      else
        reject(new StartRefused(`${host} is not an address to listen on (${error.code}): set VITASCOPE_HOST to an address of this machine`))
    })
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}

/**
 * Returns the system key of a first start, or undefined. It is printed once on a terminal,
 * otherwise it is only in its file.
 */
export async function readSystemKey(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
