import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../command.ts'
import type { Recipe } from './recipe.ts'

/** Backups by `npm run backup` of a platform whose database and objects are in its data folder. */
export async function createBackupRecipe(): Promise<Recipe> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-drill-backup-'))
  return {
    name: 'backup',
    settings: {},
    backUp: (dataDir) => run('backup', ['--to', folder], dataDir),
    // The database and the objects belong to the platform and are in its data folder.
    kill: async () => {},
    destroy: async () => {},
    async restore(dataDir) {
      await run('restore', ['--from', folder, '--verify'], dataDir)
      return {}
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

async function run(name: string, args: readonly string[], dataDir: string): Promise<void> {
  const { code, stderr } = await runCommand(name, args, { VITASCOPE_DATA_DIR: dataDir })
  if (code !== 0) throw new Error(`${name} exited with ${code}: ${stderr}`)
}
