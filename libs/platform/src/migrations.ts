import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { PlatformConfig } from './config.ts'
import type { LogPrinter } from './log-printer.ts'
import { StartError } from './start-error.ts'

/** Services with a schema of their name. */
export const STATEFUL = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics'] as const

const APPS = fileURLToPath(new URL('../../../apps/', import.meta.url))

/**
 * Applies the migrations of every service to its database, each in a process of its own. Rejects
 * with `StartError` if one fails. `urls` has the database URL of each service.
 */
export async function migrateAll(config: PlatformConfig, urls: Readonly<Record<string, string>>, print: LogPrinter): Promise<void> {
  const migrations = STATEFUL.map((name) => {
    const env = {
      ...inheritedEnvironment(),
      [`VITASCOPE_${name.toUpperCase()}_DATABASE_URL`]: `${urls[name]}`,
      ...config.forwardedEnvironment,
    }
    return runToEnd({ name, main: `${APPS}${name}/src/migrate.ts`, env }, print)
  })
  await Promise.all(migrations)
}

/** Variables of the AWS SDK that name the identity of a process and its token service. They contain no secrets. */
const IDENTITY_VARIABLES = [
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_EC2_METADATA_DISABLED',
  'AWS_ENDPOINT_URL_STS',
]

/** Returns the variables of this process that every process of the platform receives. */
export function inheritedEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', ...IDENTITY_VARIABLES]
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Runs a migration process to its end. Its output is printed afterwards. */
function runToEnd({ name, main, env }: { name: string; main: string; env: Record<string, string> }, print: LogPrinter): Promise<void> {
  return new Promise((resolve, reject) => {
    const outputLines: string[] = []
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => outputLines.push(...data.toString().trim().split('\n')))
    child.once('error', reject)
    child.once('close', (code) => {
      for (const line of outputLines) print.line(name, line)
      if (code === 0) resolve()
      else reject(new StartError(`the migration of ${name} failed: see its messages above`))
    })
  })
}
