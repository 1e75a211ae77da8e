import type { Reader } from './read-environment.ts'

/** `VITASCOPE_<SERVICE>_DATABASE_URL`, or the content of the file that its `_FILE` names; required. */
export function readDatabaseUrl(read: Reader, service: string): string {
  const name = `VITASCOPE_${service}_DATABASE_URL`
  const url = read.secretUrl(name, ['postgres:', 'postgresql:'])
  if (url === undefined) read.refuse(`${name} is missing`)
  return url ?? ''
}
