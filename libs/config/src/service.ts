import type { Reader } from './read-environment.ts'

/**
 * Reads the settings of TLS between services, and which services may call. Undefined for plain text. All processes
 * use the same settings.
 */
export function readTls(read: Reader): { folder: string; callers: readonly string[] } | undefined {
  const folder = read.optional('VITASCOPE_TLS_DIR')
  const callers = read.list('VITASCOPE_TLS_CALLERS', (name) =>
    /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name) ? undefined : 'is no DNS name in small letters',
  )
  if (folder === undefined && callers.length > 0)
    read.refuse('VITASCOPE_TLS_CALLERS needs VITASCOPE_TLS_DIR: in plain text nobody has a name')
  return folder === undefined ? undefined : { folder, callers }
}

/**
 * Reads the path of the key that signs the calls of a process, and for servers the folder of the keys that verify the
 * calls of other services.
 */
export function readPrincipalKeys(
  read: Reader,
  { isServer }: { isServer: boolean },
): { signingKeyFile: string; publicKeysDir: string | undefined } {
  return {
    signingKeyFile: read.text('VITASCOPE_SIGNING_KEY_FILE'),
    publicKeysDir: isServer ? read.text('VITASCOPE_PUBLIC_KEYS_DIR') : undefined,
  }
}

/**
 * Reads the settings of a service's gRPC server other than its address. `service` is the name in its settings, such
 * as `CATALOGUE`.
 */
export function readGrpcServerSettings(
  read: Reader,
  service: string,
): { healthListen: string | undefined; connectionSeconds: number; connectionGraceSeconds: number; reflection: boolean } {
  const name = `VITASCOPE_${service}_HEALTH_LISTEN`
  return {
    healthListen: read.optional(name) === undefined ? undefined : read.address(name),
    connectionSeconds: read.int('VITASCOPE_GRPC_CONNECTION_SECONDS', 120, { min: 1, max: 86_400 }),
    connectionGraceSeconds: read.int('VITASCOPE_GRPC_CONNECTION_GRACE_SECONDS', 600, { min: 1, max: 86_400 }),
    // Reflection exposes every method and message to any program that reaches the port. It is meant for debugging.
    reflection: read.flag('VITASCOPE_GRPC_REFLECTION', false),
  }
}

/**
 * Reads the origin of a service that is called over HTTP, without a path or trailing slash. The protocol is `https`
 * if TLS between services is configured, whatever the setting contains.
 */
export function readHttpOrigin(read: Reader, name: string): string {
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
