import { readDatabaseConfig, recordSettings } from '@vitascope/config'
import { readPlatformConfig } from '@vitascope/platform'
import { readProcessSettings } from '@vitascope/process'
import { readConfig as readAnalytics } from '../../../apps/analytics/src/config.ts'
import { readAuthConfig } from '../../../apps/auth/src/config.ts'
import { readConfig as readCatalogue } from '../../../apps/catalogue/src/config.ts'
import { readConfig as readCollaboration } from '../../../apps/collaboration/src/config.ts'
import { readDeliveryConfig } from '../../../apps/delivery/src/config.ts'
import { readConfig as readEncoding } from '../../../apps/encoding/src/config.ts'
import { readBucketConfig } from '../../../apps/encoding/src/objects/bucket-config.ts'
import { readWorkerConfig } from '../../../apps/encoding/src/worker/config.ts'
import { readGatewayConfig } from '../../../apps/gateway/src/config.ts'

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
  backup: readPlatformConfig,
  restore: readPlatformConfig,
  'object-rights': readBucketConfig,
  // Its options are arguments.
  test: () => undefined,
  'auth-migrate': (env) => readDatabaseConfig(env, 'AUTH'),
  'catalogue-migrate': (env) => readDatabaseConfig(env, 'CATALOGUE'),
  'encoding-migrate': (env) => readDatabaseConfig(env, 'ENCODING'),
  'collaboration-migrate': (env) => readDatabaseConfig(env, 'COLLABORATION'),
  'analytics-migrate': (env) => readDatabaseConfig(env, 'ANALYTICS'),
}

/** Settings that every process reads in addition to its own settings (libs/process). */
export const readByAll: readonly string[] = [...recordSettings(() => readProcessSettings({})).names]
