import { readDatabaseConfig as analyticsDatabase, readConfig as readAnalytics } from '../../../apps/analytics/src/config.ts'
import { readMigrateConfig as authDatabase, readAuthConfig } from '../../../apps/auth/src/config.ts'
import { readMigrationConfig as catalogueDatabase, readConfig as readCatalogue } from '../../../apps/catalogue/src/config.ts'
import { readMigrationConfig as collaborationDatabase, readConfig as readCollaboration } from '../../../apps/collaboration/src/config.ts'
import { readDeliveryConfig } from '../../../apps/delivery/src/config.ts'
import { readMigrateConfig as encodingDatabase, readConfig as readEncoding } from '../../../apps/encoding/src/config.ts'
import { readGrantConfig } from '../../../apps/encoding/src/objects/grant-config.ts'
import { readWorkerConfig } from '../../../apps/encoding/src/worker/config.ts'
import { readGatewayConfig } from '../../../apps/gateway/src/config.ts'
import { readStandaloneConfig } from '../../../apps/standalone/src/config.ts'

/**
 * Functions that read the settings of each process, by its name in the compose file. The chart has
 * additional names for some.
 */
export const readers: Readonly<Record<string, (env: NodeJS.ProcessEnv) => unknown>> = {
  gateway: readGatewayConfig,
  auth: readAuthConfig,
  catalogue: readCatalogue,
  encoding: readEncoding,
  worker: readWorkerConfig,
  delivery: readDeliveryConfig,
  collaboration: readCollaboration,
  analytics: readAnalytics,
  backup: readStandaloneConfig,
  restore: readStandaloneConfig,
  'object-rights': readGrantConfig,
  'auth-migrate': authDatabase,
  'catalogue-migrate': catalogueDatabase,
  'encoding-migrate': encodingDatabase,
  'collaboration-migrate': collaborationDatabase,
  'analytics-migrate': analyticsDatabase,
}

/** Settings that every process reads besides its own (libs/process). */
export const readByAll: readonly string[] = ['VITASCOPE_LOG_LEVEL', 'VITASCOPE_DRAIN_SECONDS']
