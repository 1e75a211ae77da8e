/** A command of the product. It runs programs of the apps, because an app imports no other. */
export interface Command {
  /** What the command does, in one sentence. */
  summary: string
  /** Each argument, as in a synopsis, with its meaning. Arguments in brackets are optional. */
  args: Readonly<Record<string, string>>
  /** Which platform it uses, for the help. */
  platform: string
  /** Run one after another, with the arguments of the user. */
  programs: readonly Program[]
}

export interface Program {
  /** Path below `apps`. */
  path: string
  /** Arguments in front of those of the user. */
  args?: readonly string[]
  /** Service whose database the program uses. Without one, the program itself finds the platform. */
  service?: string
  /** Settings that default to a file or folder of the data folder. */
  defaults?: Readonly<Record<string, string>>
}

const RUNNING = 'Uses the platform that runs on VITASCOPE_DATA_DIR (./data), or the database of VITASCOPE_DATABASE_URL'

export const COMMANDS: Readonly<Record<string, Command>> = {
  backup: {
    summary: 'Backs up a platform, running or not, into a folder.',
    args: {
      '--to DIR': 'a new folder, or that of earlier backups, whose objects are reused',
      '[--keep N]': 'number of backups in the folder, 1 by default; older ones are removed',
      '[--without-secrets]': 'leaves out the keys, which are then stored elsewhere',
    },
    platform: 'Uses the platform of VITASCOPE_DATA_DIR (./data), or the database and storage of other settings.',
    programs: [{ path: 'backup/src/main.ts', args: ['backup'] }],
  },
  restore: {
    summary: 'Restores a backup into an empty platform.',
    args: {
      '--from DIR': 'folder of the backup',
      '[--at TIME]': 'the newest backup of this time or before, instead of the newest one',
      '[--list]': 'only lists the backups in the folder',
      '[--verify]': 'compares rows and objects with the backup afterwards',
    },
    platform: 'Uses the empty folder VITASCOPE_DATA_DIR (./data), or the empty database and storage of other settings.',
    programs: [{ path: 'backup/src/main.ts', args: ['restore'] }],
  },
  sweep: {
    summary: 'Compares objects with rows, and deletes objects without a row.',
    args: {
      '[--dry-run]': 'deletes nothing',
      '[--json]': 'prints a JSON object per line',
      '[--older-than SECONDS]': 'minimum age of deleted objects; 86400 by default',
    },
    platform: `${RUNNING} or VITASCOPE_ENCODING_DATABASE_URL, and the storage of VITASCOPE_STORAGE_DIR or VITASCOPE_S3_*.`,
    programs: [{ path: 'encoding/src/objects/sweep.ts', service: 'encoding', defaults: { VITASCOPE_STORAGE_DIR: 'storage' } }],
  },
  undelete: {
    summary: 'Restores deleted objects of a bucket with versioning.',
    args: { '--since TIME': 'time of the first deletion to undo, such as 2026-01-31T12:00:00Z' },
    platform: 'Uses the bucket of VITASCOPE_S3_*, with the keys of its owner.',
    programs: [{ path: 'encoding/src/objects/undelete.ts' }],
  },
  reconcile: {
    summary: 'Compares the counts of analytics with the events, and prints the differences.',
    args: {},
    platform: `${RUNNING} or VITASCOPE_ANALYTICS_DATABASE_URL.`,
    programs: [{ path: 'analytics/src/reconcile-main.ts', service: 'analytics' }],
  },
  rekey: {
    summary: 'Encrypts all stored secrets with the first master key.',
    args: {},
    platform: `${RUNNING} or VITASCOPE_AUTH_DATABASE_URL and VITASCOPE_CATALOGUE_DATABASE_URL, and the keys of VITASCOPE_MASTER_KEY_FILE.`,
    programs: ['auth', 'catalogue'].map((service) => ({
      path: `${service}/src/rekey.ts`,
      service,
      defaults: { VITASCOPE_MASTER_KEY_FILE: 'secrets/master-key' },
    })),
  },
  'rotate-key': {
    summary: 'Changes a key file for one step of a key rotation.',
    args: {
      NAME: 'master-key, token-keys or upload-signing-key',
      STEP: 'add: appends a new key; use: moves the last key to the front; remove: keeps only the first key',
      '[--file FILE]': 'the file, or - for standard input and output; by default NAME in secrets/ of the data folder',
    },
    platform: 'Uses the key files of VITASCOPE_DATA_DIR (./data). Running services read changed files within 5 s.',
    programs: [{ path: 'auth/src/rotate-key.ts' }],
  },
  'import-postcodes': {
    summary: 'Imports a GeoNames postal code file.',
    args: {
      '[--skip-bad]': 'skips invalid lines and prints them',
      FILE: 'for example allCountries.txt of GeoNames',
    },
    platform: `${RUNNING} or VITASCOPE_CATALOGUE_DATABASE_URL.`,
    programs: [{ path: 'catalogue/src/import-postcodes.ts', service: 'catalogue' }],
  },
}
