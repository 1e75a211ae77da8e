import { chmod, copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type LogPrinter, migrateAll, openDataFolder, type PlatformConfig } from '@vitascope/platform'
import { openFileStorage, openStorage, unsyncedDisk } from '@vitascope/storage'
import { BackupError } from './backup-error.ts'
import { type Manifest, paths } from './backup-folder.ts'
import { syncAll } from './copy-objects.ts'
import { fileExists, objectStoreSettings, secretFiles, startEmbedded } from './open-platform.ts'
import { type RestoreTarget, requireEmpty } from './restore.ts'

/**
 * Prepares an empty target for a backup: secrets, database, tables. `finish` makes objects durable
 * that are stored in a folder. Throws `BackupError` if it is not empty.
 */
export async function openTarget(
  config: PlatformConfig,
  { manifest, folder }: { manifest: Manifest; folder: string },
  print: LogPrinter,
): Promise<RestoreTarget & { finish(): Promise<void>; close(): Promise<void> }> {
  const objects = objectStoreSettings(config)
  const storage = 'folder' in objects ? await openFileStorage({ root: objects.folder, disk: unsyncedDisk }) : await openStorage(objects)
  const where = 'a new VITASCOPE_DATA_DIR'
  await requireEmpty({ urls: {}, storage }, where)
  if (config.databaseUrl === undefined && (await fileExists(join(config.dataDir, 'postgres', 'PG_VERSION')))) {
    throw new BackupError(`${config.dataDir} already has a database: restore into ${where}`)
  }
  await restoreSecrets(config, manifest, folder)
  const data = await openDataFolder(config)
  const { urls, close } = await startEmbedded(config, data, print)
  try {
    await requireEmpty({ urls, storage }, where)
    await migrateAll(config, urls, print)
  } catch (error) {
    await close()
    throw error
  }
  const finish = async () => {
    if ('folder' in objects) await syncAll(objects.folder)
  }
  return { urls, storage, finish, close }
}

/**
 * Restores the secrets. Existing ones must equal those of the backup, because encrypted data would
 * be unreadable with others.
 */
async function restoreSecrets(config: PlatformConfig, manifest: Manifest, folder: string): Promise<void> {
  const files = secretFiles(config)
  if (manifest.secrets.length === 0) {
    for (const [name, file] of Object.entries(files)) {
      if (!(await fileExists(file)))
        throw new BackupError(`the backup has no secrets: put the ${name} of the backed-up platform in ${file} first`)
    }
  }
  // Backups of earlier versions have one folder of secrets for all.
  const own = paths.secretsOf(folder, manifest.run)
  const source = (await fileExists(own)) ? own : paths.secrets(folder)
  for (const name of manifest.secrets) {
    const [backupFile, file] = [join(source, name), files[name]]
    if (file === undefined) throw new BackupError(`the backup is of another version: it has the secret ${name}`)
    if (await fileExists(file)) {
      if ((await readFile(file, 'utf8')).trim() === (await readFile(backupFile, 'utf8')).trim()) continue
      throw new BackupError(`${file} differs from that of the backup: restore into a new VITASCOPE_DATA_DIR`)
    }
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await copyFile(backupFile, file)
    await chmod(file, 0o600)
  }
}
