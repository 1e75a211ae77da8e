import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { ConfigError } from '@vitascope/config'
import { PostgresError } from '@vitascope/embedded-postgres'
import { createLogPrinter, type PlatformConfig, readPlatformConfig, StartError } from '@vitascope/platform'
import { type Platform, startPlatform } from './platform.ts'

const STOP_LIMIT_MS = 9_500
/**
 * The terminal, npm and the wrapper each forward one Ctrl-C. Signals within this time count as one.
 */
const SAME_SIGNAL_MS = 1_000

/** `npm start`: runs the platform until Ctrl-C. */
export async function main(began = Date.now()): Promise<void> {
  const print = createLogPrinter(process.stdout)
  let platform: Platform | undefined
  let stopping: Promise<void> | undefined
  let stoppedAt = 0
  const stop = (signal: string) => {
    if (stopping && performance.now() - stoppedAt < SAME_SIGNAL_MS) return
    if (stopping) process.exit(1)
    stoppedAt = performance.now()
    print.own('info', `${signal}: stopping (repeat to end immediately)`)
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref()
    stopping = (platform?.stop() ?? Promise.resolve()).then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal))

  try {
    const config = readPlatformConfig(process.env)
    platform = await startPlatform(config, print)
    if (stopping) await platform.stop()
    else process.stdout.write(await readyTable(config, platform, Date.now() - began))
  } catch (error) {
    if (stopping) return
    const explained = error instanceof StartError || error instanceof ConfigError || error instanceof PostgresError
    process.stderr.write(`Vitascope did not start: ${explained ? error.message : (error as Error).stack}\n`)
    process.exit(1)
  }
}

async function readyTable(config: PlatformConfig, platform: Platform, ms: number): Promise<string> {
  const rows: [string, string][] = [
    ['API', `${platform.url}/v2`],
    ['Docs', `${platform.url}/docs`],
    ['Player', `${platform.url}/player/{video_id}`],
    ['Console', `${platform.url}/console`],
    ['Upload', `${platform.url}/upload`],
    ['Metrics', platform.metricsUrl],
    ['Data', formatFolder(platform.dataDir)],
  ]
  if (existsSync(platform.systemKeyFile)) rows.push(['System key', `in ${relative(process.cwd(), platform.systemKeyFile)}`])
  else if (config.systemKey !== undefined) rows.push(['System key', 'that of VITASCOPE_SYSTEM_KEY, unless it was regenerated since'])
  if (platform.firstUserLink !== undefined) rows.push(['Sign in', `${platform.firstUserLink} (once, within a day)`])
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}   ${value}`)
  return `\n  Vitascope is ready (${(ms / 1000).toFixed(1)} s). Ctrl-C stops it.\n\n${lines.join('\n')}\n\n`
}

/** Returns a relative path for a folder below the working directory. */
function formatFolder(folder: string): string {
  const path = relative(process.cwd(), folder) || '.'
  return path.startsWith('..') ? folder : path
}
