import { ANALYTICS_RETENTION_DAYS, readEnvironment, readServiceAddress } from '@vitascope/config'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'

/** The settings of the analytics service. */
export interface AnalyticsConfig extends GrpcServiceConfig {
  catalogueAddress: string
  /**
   * Spool for events while the database is unavailable, in a folder used by this process only. If
   * undefined, events are rejected during that time.
   */
  spool: { folder: string; maxBytes: number } | undefined
  /** Days for which events, and views without newer events, are kept. Counts are kept permanently. */
  retentionDays: number
}

export function readConfig(env: NodeJS.ProcessEnv): AnalyticsConfig {
  const read = readEnvironment(env)
  const folder = read.optional('VITASCOPE_ANALYTICS_SPOOL_DIR', {
    description:
      'Folder that only this process uses, on a volume that outlives the process. It stores events while the database is unavailable. Without it, such events are rejected.',
  })
  const maxBytes = read.int('VITASCOPE_ANALYTICS_SPOOL_BYTES', {
    fallback: 256 * 1024 * 1024,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    description: 'Maximum size of the spool in bytes. Events beyond it are rejected.',
  })
  const config = {
    ...readGrpcServiceConfig(read, 'ANALYTICS'),
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
    spool: folder === undefined ? undefined : { folder, maxBytes },
    retentionDays: read.int('VITASCOPE_ANALYTICS_RETENTION_DAYS', ANALYTICS_RETENTION_DAYS),
  }
  read.check()
  return config
}
