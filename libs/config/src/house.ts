import type { Reader } from './read-environment.ts'

/** TLS between services, and who of them may call; undefined for plain text. The same settings for every process. */
export function readTls(read: Reader): { folder: string; callers: readonly string[] } | undefined {
  const folder = read.optional('VITASCOPE_TLS_DIR')
  const callers = read.list('VITASCOPE_TLS_CALLERS', (name) =>
    /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name) ? undefined : 'is no DNS name in small letters',
  )
  if (folder === undefined && callers.length > 0)
    read.refuse('VITASCOPE_TLS_CALLERS needs VITASCOPE_TLS_DIR: in plain text nobody has a name')
  return folder === undefined ? undefined : { folder, callers }
}

/** How a service's gRPC server listens, besides its address: `service` as in the names of its settings, `CATALOGUE`. */
export function readServe(
  read: Reader,
  service: string,
): { healthListen: string | undefined; connectionSeconds: number; connectionGraceSeconds: number } {
  const name = `VITASCOPE_${service}_HEALTH_LISTEN`
  return {
    healthListen: read.optional(name) === undefined ? undefined : read.address(name),
    connectionSeconds: read.int('VITASCOPE_GRPC_CONNECTION_SECONDS', 120, { min: 1, max: 86_400 }),
    connectionGraceSeconds: read.int('VITASCOPE_GRPC_CONNECTION_GRACE_SECONDS', 600, { min: 1, max: 86_400 }),
  }
}

/** The origin of a service that is called by HTTP, without a path and a slash at the end: `https` with TLS between services, whatever the setting says. */
export function readOrigin(read: Reader, name: string): string {
  const url = read.url(name, ['http:', 'https:'])
  if (url === undefined) {
    read.refuse(`${name} is missing`)
    return ''
  }
  if (!URL.canParse(url)) return ''
  const { protocol, pathname, host } = new URL(url)
  const secure = read.optional('VITASCOPE_TLS_DIR') !== undefined
  if (protocol === 'https:' && !secure) read.refuse(`${name} begins with https://, which needs VITASCOPE_TLS_DIR`)
  if (pathname !== '/') read.refuse(`${name} must be an origin, without a path`)
  return `${secure ? 'https' : 'http'}://${host}`
}
