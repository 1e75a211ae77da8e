import {
  type Reader,
  readDatabaseUrl,
  readDirectDatabaseUrl,
  readGrpcServerSettings,
  readListenAddress,
  readMetricsAddress,
  readPoolSize,
  readPrincipalKeys,
  readTls,
} from '@vitascope/config'
import type { PrincipalKeySettings, ServeSettings, TlsSettings } from '@vitascope/grpc'

/** The settings that every gRPC service has. */
export interface GrpcServiceConfig {
  /** `HOST:PORT` of the gRPC server; port 0 selects any free port. */
  listen: string
  /** `HOST:PORT` of `/metrics`, `/healthz` and `/readyz`. */
  metricsListen: string
  serve?: ServeSettings
  /** TLS between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** URL without a transaction pooler. Undefined if `databaseUrl` has none. */
  directDatabaseUrl?: string | undefined
  /** Connections of each pool; 4 by default. */
  poolSize?: number
  /** The key that signs this service's calls, and the keys that verify calls of other services. */
  principalKeys: PrincipalKeySettings
}

/** Reads the common settings of a service. `service` is its name in settings, such as `CATALOGUE`. */
export function readGrpcServiceConfig(read: Reader, service: string): GrpcServiceConfig {
  return {
    listen: readListenAddress(read, service),
    metricsListen: readMetricsAddress(read, service),
    serve: readGrpcServerSettings(read, service),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, service),
    directDatabaseUrl: readDirectDatabaseUrl(read, service),
    poolSize: readPoolSize(read),
    principalKeys: readPrincipalKeys(read, { isServer: true }),
  }
}
