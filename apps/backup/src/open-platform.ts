import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { readEnvironment, readObjectStore } from '@vitascope/config'
import {
  type DataFolder,
  type LogPrinter,
  openDataFolder,
  type PlatformConfig,
  runningDatabaseUrl,
  STATEFUL,
  startDatabase,
} from '@vitascope/platform'
import { connectOnce } from '@vitascope/postgres'
import { openStorage } from '@vitascope/storage'
import type { BackupSource } from './backup.ts'
import { BackupError } from './backup-error.ts'

/** Returns the settings of the object store, as `npm start` passes them on. */
export function objectStoreSettings(config: PlatformConfig) {
  const read = readEnvironment({ VITASCOPE_STORAGE_DIR: join(config.dataDir, 'storage'), ...config.forwardedEnvironment })
  const settings = readObjectStore(read)
  read.check()
  return settings
}

/** Returns the database URLs, with the configured one of a service where it is set. */
export function configuredUrls(config: PlatformConfig, urls: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    STATEFUL.map((service) => [
      service,
      config.forwardedEnvironment[`VITASCOPE_${service.toUpperCase()}_DATABASE_URL`] ?? urls[service] ?? '',
    ]),
  )
}

/** Opens a platform for a backup, whether it runs or not. */
export async function openSource(
  config: PlatformConfig,
  print: LogPrinter,
  withSecrets: boolean,
): Promise<BackupSource & { close(): Promise<void> }> {
  const { urls, close } = await openDatabases(config, print)
  try {
    const secrets = withSecrets ? await existingSecrets(config) : {}
    return { urls, storage: await openStorage(objectStoreSettings(config)), secrets, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openDatabases(config: PlatformConfig, print: LogPrinter) {
  const repeatUrl = (url: string) => configuredUrls(config, Object.fromEntries(STATEFUL.map((service) => [service, url])))
  if (config.databaseUrl !== undefined || Object.values(repeatUrl('')).every((url) => url !== '')) {
    return { urls: repeatUrl(config.databaseUrl ?? ''), close: async () => {} }
  }
  const running = await runningUrl(config.dataDir)
  if (running !== undefined) return { urls: repeatUrl(running), close: async () => {} }
  if (!(await fileExists(join(config.dataDir, 'postgres', 'PG_VERSION')))) {
    throw new BackupError(`there is no platform in ${config.dataDir}: set VITASCOPE_DATA_DIR, or VITASCOPE_DATABASE_URL`)
  }
  const folder = await openDataFolder(config)
  return startEmbedded(config, folder, print)
}

/**
 * Starts the database of a locked data folder. It starts none if each service has a configured URL.
 */
export async function startEmbedded(config: PlatformConfig, folder: DataFolder, print: LogPrinter) {
  const urls = configuredUrls(config, {})
  if (Object.values(urls).every((url) => url !== '')) return { urls: urls, close: () => folder.release() }
  try {
    const database = await startDatabase({ folder, databaseUrl: config.databaseUrl, services: STATEFUL, print })
    const close = async () => {
      await database.stop()
      await folder.release()
    }
    return { urls: configuredUrls(config, database.urls), close }
  } catch (error) {
    await folder.release()
    throw error
  }
}

/** Returns the URL of the embedded server if it accepts connections. */
async function runningUrl(dataDir: string): Promise<string | undefined> {
  const url = await runningDatabaseUrl(dataDir)
  if (url === undefined) return undefined
  try {
    await (await connectOnce(url)).end()
    return url
  } catch (error) {
    // The pid file of a killed server remains.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined
    throw error
  }
}

/**
 * Returns the secret files by their names in `secrets/`. The password of the embedded database and
 * the principal keys are created again after a restore.
 */
export function secretFiles({ dataDir, secretFiles: configured }: PlatformConfig): Record<string, string> {
  const defaultFile = (name: string) => join(dataDir, 'secrets', name)
  return {
    'master-key': configured.masterKey ?? defaultFile('master-key'),
    'token-keys': configured.tokenKeys ?? defaultFile('token-keys'),
    'upload-signing-key': configured.uploadSigningKey ?? defaultFile('upload-signing-key'),
    'idempotency-hash-key': configured.idempotencyHashKey ?? defaultFile('idempotency-hash-key'),
  }
}

async function existingSecrets(config: PlatformConfig): Promise<Record<string, string>> {
  const files = secretFiles(config)
  for (const [name, file] of Object.entries(files)) {
    if (await fileExists(file)) continue
    throw new BackupError(`${file} cannot be read: name the file of ${name}, or keep secrets elsewhere and use --without-secrets`)
  }
  return files
}

export async function fileExists(file: string): Promise<boolean> {
  try {
    await access(file)
    return true
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
