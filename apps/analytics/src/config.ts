import { ANALYTICS_RETENTION_DAYS, readCountryDatabaseFile, readEnvironment, readServiceAddress } from '@vitascope/config'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'

/** The settings of the analytics service. */
export interface AnalyticsConfig extends GrpcServiceConfig {
  catalogueAddress: string
  /**
   * Spool that stores events while the database is unavailable. Only this process uses its folder.
   * If it is undefined, events are rejected during that time.
   */
  spool: { folder: string; maxBytes: number } | undefined
  /** Days after which events and inactive views are deleted. Counts are never deleted. */
  retentionDays: number
  /** MMDB file with the countries of addresses. Undefined if countries are unknown. */
  countryDatabaseFile?: string | undefined
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
    description: 'Maximum size of the spool in bytes. When the spool is full, events are rejected.',
  })
  const config = {
    ...readGrpcServiceConfig(read, 'ANALYTICS'),
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
    spool: folder === undefined ? undefined : { folder, maxBytes },
    retentionDays: read.int('VITASCOPE_ANALYTICS_RETENTION_DAYS', ANALYTICS_RETENTION_DAYS),
    countryDatabaseFile: readCountryDatabaseFile(read),
  }
  read.check()
  return config
}
