import { ConfigError, PUBLIC_URL, readCommandDatabaseUrl, readEnvironment } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { openPostgres } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { makeLinkSecret } from './sign-in-link/sign-in-link.ts'
import { replaceFirstUserLink } from './sign-in-link/sign-in-link-store.ts'

const HOURS = 24
const DEFAULT_PUBLIC_URL = 'http://localhost:8080'

// Command `node apps/auth/src/first-user-link.ts`: prints a link by which the first user signs in, valid once and for a
// day. It replaces the previous one. It prints nothing if a user has signed in already.
process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const { databaseUrl, publicUrl } = readConfig(process.env)
    const log = createLogger({ service: 'auth-first-user-link', level: 'fatal' })
    const db = openPostgres({ url: databaseUrl, schema: 'auth', log, poolSize: 1 })
    try {
      const { secret, secretHash } = makeLinkSecret()
      const isReplaced = await replaceFirstUserLink(db, { secretHash, hours: HOURS })
      // The fragment of a URL is in no log of a server or proxy.
      if (isReplaced) process.stdout.write(`${publicUrl}/console/sign-in#link=${secret}&first\n`)
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    if (!(error instanceof ConfigError) && !isDomainError(error)) throw error
    process.stderr.write(`auth: ${error.message}\n`)
    return 1
  }
}

function readConfig(env: NodeJS.ProcessEnv): { databaseUrl: string; publicUrl: string } {
  const read = readEnvironment(env)
  const url = read.url('VITASCOPE_PUBLIC_URL', { ...PUBLIC_URL, defaultText: `\`${DEFAULT_PUBLIC_URL}\`` }) ?? DEFAULT_PUBLIC_URL
  const config = { databaseUrl: readCommandDatabaseUrl(read, 'AUTH'), publicUrl: url.replace(/(?<!\/)\/+$/, '') }
  read.check()
  return config
}
