import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../command.ts'
import type { Recipe } from './recipe.ts'

/** Creates a recipe for a platform whose database and objects are in its data folder: `npm run backup` and `npm run restore`. */
export async function createBackupRecipe(): Promise<Recipe> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-drill-backup-'))
  return {
    name: 'backup',
    settings: {},
    backUp: (dataDir) => run('backup', ['--to', folder], dataDir),
    // These do nothing: the drill kills the platform with its database, and deletes the data folder with the objects.
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
