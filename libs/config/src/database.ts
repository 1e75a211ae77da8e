import type { Reader } from './read-environment.ts'

/** Reads `VITASCOPE_<SERVICE>_DATABASE_URL`, or the file that its `_FILE` variant names. Required. */
export function readDatabaseUrl(read: Reader, service: string): string {
  const name = `VITASCOPE_${service}_DATABASE_URL`
  const url = read.secretUrl(name, ['postgres:', 'postgresql:'])
  if (url === undefined) read.refuse(`${name} is missing`)
  return url ?? ''
}
