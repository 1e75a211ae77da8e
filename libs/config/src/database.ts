import { type Reader, readEnvironment } from './read-environment.ts'

/** Reads `VITASCOPE_<SERVICE>_DATABASE_URL`, or the file that its `_FILE` variant names. The setting is required. */
export function readDatabaseUrl(read: Reader, service: string): string {
  const name = `VITASCOPE_${service}_DATABASE_URL`
  const url = read.secretUrl(name, {
    protocols: ['postgres:', 'postgresql:'],
    defaultText: 'required',
    description:
      'PostgreSQL URL of the role that owns the schema of the service. For auth and catalogue it must not lead through a transaction pooler, because they use LISTEN.',
  })
  if (url === undefined) read.addProblem(`${name} is missing`)
  return url ?? ''
}

/** Reads the settings of a command that only needs the database of a service, such as its migrations. Throws `ConfigError`. */
export function readDatabaseConfig(env: NodeJS.ProcessEnv, service: string): { databaseUrl: string } {
  const read = readEnvironment(env)
  const databaseUrl = readDatabaseUrl(read, service)
  read.check()
  return { databaseUrl }
}
