import { type Reader, readEnvironment } from './read-environment.ts'

const PROTOCOLS = ['postgres:', 'postgresql:']

/** Reads `VITASCOPE_<SERVICE>_DATABASE_URL`, or the file that its `_FILE` variant names. The setting is required. */
export function readDatabaseUrl(read: Reader, service: string): string {
  const name = `VITASCOPE_${service}_DATABASE_URL`
  const url = read.secretUrl(name, {
    protocols: PROTOCOLS,
    defaultText: 'required',
    description:
      'PostgreSQL URL of the role that owns the schema of the service. It may lead through a transaction pooler such as PgBouncer only if ' +
      '`VITASCOPE_<SERVICE>_DATABASE_DIRECT_URL` is set.',
  })
  if (url === undefined) read.addProblem(`${name} is missing`)
  return url ?? ''
}

/**
 * Reads `VITASCOPE_<SERVICE>_DATABASE_DIRECT_URL`. If it is set, `VITASCOPE_<SERVICE>_DATABASE_URL`
 * leads through a transaction pooler.
 */
export function readDirectDatabaseUrl(read: Reader, service: string): string | undefined {
  return read.secretUrl(`VITASCOPE_${service}_DATABASE_DIRECT_URL`, {
    protocols: PROTOCOLS,
    defaultText: 'none',
    description:
      'PostgreSQL URL of the same role without a pooler, for LISTEN, migrations, commands and long statements. Required if ' +
      '`VITASCOPE_<SERVICE>_DATABASE_URL` leads through a transaction pooler.',
  })
}

/** Reads the URL for commands, migrations and LISTEN, which never lead through a pooler. */
export function readCommandDatabaseUrl(read: Reader, service: string): string {
  const url = readDatabaseUrl(read, service)
  return readDirectDatabaseUrl(read, service) ?? url
}

/** Reads the maximum number of connections of each pool. */
export function readPoolSize(read: Reader): number {
  return read.int('VITASCOPE_DATABASE_POOL_SIZE', {
    fallback: 4,
    min: 1,
    max: 50,
    description: 'Connections of each database pool. 4 was faster than 10 on two cores.',
  })
}

/** Reads the settings of a command that only needs the database of a service, such as its migrations. Throws `ConfigError`. */
export function readDatabaseConfig(env: NodeJS.ProcessEnv, service: string): { databaseUrl: string } {
  const read = readEnvironment(env)
  const databaseUrl = readCommandDatabaseUrl(read, service)
  read.check()
  return { databaseUrl }
}
