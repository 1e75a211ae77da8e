import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@vitascope/embedded-postgres'
import { type DataFolder, inheritedEnvironment, type PlatformConfig } from '@vitascope/platform'
import type { ChildSpec } from './child.ts'

const APPS = fileURLToPath(new URL('../..', import.meta.url))

export interface ServicePlan {
  /** In start order. All start at once and connect to each other when they are up. */
  services: ChildSpec[]
  /** `NAME URL` of each process's metrics. */
  metrics: string[]
  /** File to which auth writes the system key of a first start. */
  systemKeyFile: string
}

/**
 * Returns the settings of each process: newly chosen addresses, its database login, and paths in
 * the data folder.
 */
export async function planServices(config: PlatformConfig, folder: DataFolder, databaseUrls: Record<string, string>): Promise<ServicePlan> {
  const systemKeyFile = join(folder.path, 'system-key')
  const address: Record<string, string> = {}
  for (const name of ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics', 'delivery'])
    address[name] = `127.0.0.1:${await freePort()}`
  const uploadListen = `127.0.0.1:${await freePort()}`
  const metrics: string[] = []

  const secrets = {
    VITASCOPE_MASTER_KEY_FILE: folder.secrets.masterKey,
    VITASCOPE_TOKEN_KEYS_FILE: folder.secrets.tokenKeys,
  }
  const shared = {
    ...inheritedEnvironment(),
    VITASCOPE_AUTH_ADDRESS: `${address['auth']}`,
    VITASCOPE_CATALOGUE_ADDRESS: `${address['catalogue']}`,
    VITASCOPE_ENCODING_ADDRESS: `${address['encoding']}`,
    VITASCOPE_COLLABORATION_ADDRESS: `${address['collaboration']}`,
    VITASCOPE_ANALYTICS_ADDRESS: `${address['analytics']}`,
    VITASCOPE_STORAGE_DIR: join(folder.path, 'storage'),
    VITASCOPE_SCRATCH_DIR: join(folder.path, 'scratch'),
    VITASCOPE_PUBLIC_URL: config.publicUrl,
  }
  const child = async (name: string, settings: Record<string, string>, main = `${name}/src/main.ts`): Promise<ChildSpec> => {
    const listen = `127.0.0.1:${await freePort()}`
    metrics.push(`${name} http://${listen}/metrics`)
    const metricsName = `VITASCOPE_${name.toUpperCase()}_METRICS_LISTEN`
    const keys = {
      VITASCOPE_SIGNING_KEY_FILE: folder.principalKeys.signingKeyFile(name),
      VITASCOPE_PUBLIC_KEYS_DIR: folder.principalKeys.publicKeysDir,
    }
    return { name, main: join(APPS, main), env: { ...shared, ...keys, ...settings, [metricsName]: listen, ...config.forwardedEnvironment } }
  }
  const stateful = (name: string) => {
    const [prefix, directUrl] = [`VITASCOPE_${name.toUpperCase()}`, `${databaseUrls[name]}`]
    const url = config.poolerUrl === undefined ? directUrl : withLogin(config.poolerUrl, directUrl)
    return {
      [`${prefix}_LISTEN`]: `${address[name]}`,
      [`${prefix}_DATABASE_URL`]: url,
      ...(url !== directUrl && { [`${prefix}_DATABASE_DIRECT_URL`]: directUrl }),
    }
  }

  const services = [
    await child('auth', {
      ...stateful('auth'),
      VITASCOPE_MASTER_KEY_FILE: secrets.VITASCOPE_MASTER_KEY_FILE,
      VITASCOPE_NEW_SYSTEM_KEY_FILE: systemKeyFile,
      ...(config.systemKey !== undefined && { VITASCOPE_SYSTEM_KEY: config.systemKey }),
    }),
    await child('catalogue', { ...stateful('catalogue'), ...secrets, VITASCOPE_MAIL_DIR: join(folder.path, 'mail') }),
    {
      ...(await child('encoding', {
        ...stateful('encoding'),
        VITASCOPE_ENCODING_UPLOAD_LISTEN: uploadListen,
        VITASCOPE_UPLOAD_SIGNING_KEY_FILE: folder.secrets.uploadSigningKey,
      })),
      // Buffers of forms and upload parts are short-lived, so a small young generation limits their
      // garbage.
      options: ['--max-semi-space-size=4'],
    },
    await child('collaboration', stateful('collaboration')),
    await child('analytics', { ...stateful('analytics'), VITASCOPE_ANALYTICS_SPOOL_DIR: join(folder.path, 'events') }),
    { ...(await child('worker', { VITASCOPE_WORKER_NAME: 'worker-1' }, 'encoding/src/worker/main.ts')), options: ['--single-threaded-gc'] },
    await child('delivery', {
      VITASCOPE_DELIVERY_LISTEN: `${address['delivery']}`,
      VITASCOPE_TOKEN_KEYS_FILE: secrets.VITASCOPE_TOKEN_KEYS_FILE,
    }),
    await child('gateway', {
      VITASCOPE_HOST: config.host,
      VITASCOPE_PORT: String(config.port),
      VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE: folder.secrets.idempotencyHashKey,
      VITASCOPE_DELIVERY_URL: `http://${address['delivery']}`,
      VITASCOPE_ENCODING_UPLOAD_URL: `http://${uploadListen}`,
    }),
  ]
  return { services, metrics, systemKeyFile }
}

/** Returns the URL with the user and password of another one. */
function withLogin(url: string, loginUrl: string): string {
  const [result, login] = [new URL(url), new URL(loginUrl)]
  result.username = login.username
  result.password = login.password
  return result.href
}
