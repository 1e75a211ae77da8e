import type { Reader } from './read-environment.ts'

const TLS_DIR = {
  defaultText: 'plain text',
  description:
    'Folder with `tls.crt`, `tls.key` and `ca.crt`, as in a Secret of cert-manager. If it is set, all traffic between services uses mutual TLS 1.3: gRPC, and HTTP between the gateway, encoding and delivery.',
}
const HEALTH_LISTEN = {
  defaultText: 'none',
  description: 'Address for probes. It serves only `grpc.health.v1`, without TLS.',
}

/**
 * Reads the settings of TLS between services, with the names of the allowed callers. Returns undefined without TLS. All
 * processes use the same settings.
 */
export function readTls(read: Reader): { folder: string; callers: readonly string[] } | undefined {
  const folder = read.optional('VITASCOPE_TLS_DIR', TLS_DIR)
  const callers = read.list('VITASCOPE_TLS_CALLERS', {
    check: (name) => (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name) ? undefined : 'is not a DNS name in lower case'),
    defaultText: 'every client with a certificate that `ca.crt` signed',
    description: 'Names of the services that may call this one, such as `gateway,encoding`. Requires `VITASCOPE_TLS_DIR`.',
  })
  if (folder === undefined && callers.length > 0)
    read.addProblem('VITASCOPE_TLS_CALLERS requires VITASCOPE_TLS_DIR, because callers without TLS have no certificate')
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
    signingKeyFile: read.text('VITASCOPE_SIGNING_KEY_FILE', {
      description:
        'PEM file with the Ed25519 private key with which this process signs its calls. See [Signing keys](../operate/security.md#signing-keys-of-services).',
    }),
    publicKeysDir: isServer
      ? read.text('VITASCOPE_PUBLIC_KEYS_DIR', {
          description: 'Folder with `NAME.pub` for each service that may call this one.',
        })
      : undefined,
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
    healthListen: read.optional(name, HEALTH_LISTEN) === undefined ? undefined : read.address(name, HEALTH_LISTEN),
    connectionSeconds: read.int('VITASCOPE_GRPC_CONNECTION_SECONDS', {
      fallback: 120,
      min: 1,
      max: 86_400,
      description: 'Age after which a connection accepts no new calls, so that callers find new replicas.',
    }),
    connectionGraceSeconds: read.int('VITASCOPE_GRPC_CONNECTION_GRACE_SECONDS', {
      fallback: 600,
      min: 1,
      max: 86_400,
      description: 'Maximum duration of active calls on a connection that accepts no new calls.',
    }),
    reflection: read.flag('VITASCOPE_GRPC_REFLECTION', {
      fallback: false,
      description:
        '1: services support gRPC server reflection, which lists every method and message to any program that reaches the port. For debugging only.',
    }),
  }
}

/**
 * Returns the origin of a service that is called over HTTP, without a trailing slash. The protocol is `https` if TLS
 * between services is configured, even if the setting contains `http`.
 */
export function readHttpOrigin(read: Reader, name: string, description: string): string {
  const url = read.url(name, { protocols: ['http:', 'https:'], defaultText: 'required', description })
  if (url === undefined) {
    read.addProblem(`${name} is missing`)
    return ''
  }
  if (!URL.canParse(url)) return ''
  const { protocol, origin, href, host } = new URL(url)
  const usesTls = read.optional('VITASCOPE_TLS_DIR', TLS_DIR) !== undefined
  if (protocol === 'https:' && !usesTls) read.addProblem(`${name} starts with https://, which requires VITASCOPE_TLS_DIR`)
  if (href !== `${origin}/`) read.addProblem(`${name} must be an origin, without a path, a query or a user`)
  return `${usesTls ? 'https' : 'http'}://${host}`
}
