import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { runningDatabaseUrl } from '@vitascope/platform'

/** Returns the data folder of this machine's platform. */
export function dataFolder(env: NodeJS.ProcessEnv): string {
  return resolve(env['VITASCOPE_DATA_DIR'] || './data')
}

/**
 * Returns the database URL of a service: the configured one, or that of the platform that runs on
 * the data folder. Returns undefined if none runs.
 */
export async function readDatabaseUrl(service: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return (
    setting(`VITASCOPE_${service.toUpperCase()}_DATABASE_URL`, env) ||
    setting('VITASCOPE_DATABASE_URL', env) ||
    (await runningDatabaseUrl(dataFolder(env)))
  )
}

/** Returns the value of a variable, or the content of the file in its `_FILE` variable. */
function setting(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const file = env[`${name}_FILE`]
  return env[name] || (file ? readFileSync(file, 'utf8').trim() : undefined)
}
