import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface WrkOptions {
  origin: string
  /** Paths with queries, requested in random order. */
  paths: readonly string[]
  headers?: Record<string, string>
  connections: number
  seconds: number
}

/**
 * Runs `wrk` with one thread and returns the requests per second. Throws if a response is neither 2xx nor
 * 3xx, or if a connection fails.
 */
export async function requestsPerSecond({ origin, paths, headers = {}, connections, seconds }: WrkOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-wrk-'))
  try {
    const script = join(folder, 'requests.lua')
    await writeFile(script, luaScript(paths, headers))
    const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, origin])
    const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
    const failures = /Non-2xx[^\n]*|Socket errors[^\n]*/.exec(stdout)?.[0]
    if (failures !== undefined || !(rate > 0)) throw new Error(`wrk ${origin}: ${failures ?? stdout}`)
    return rate
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function luaScript(paths: readonly string[], headers: Record<string, string>): string {
  return [
    `local paths = {${paths.map((path) => JSON.stringify(path)).join(',')}}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`),
    'request = function() return wrk.format("GET", paths[math.random(#paths)]) end',
    '',
  ].join('\n')
}
