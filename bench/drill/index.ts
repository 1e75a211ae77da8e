import { parseArgs } from 'node:util'
import { findPgBackRest, s3Path } from '@vitascope/testing'
import { startArchivedPostgres } from '../../e2e/support/drill/archived-postgres.ts'
import { createBackupRecipe } from '../../e2e/support/drill/backup-recipe.ts'
import { type LogArchive, openFolderArchive, openPgBackRestArchive } from '../../e2e/support/drill/log-archive.ts'
import { createPointInTimeRecipe } from '../../e2e/support/drill/point-in-time-recipe.ts'
import type { Recipe } from '../../e2e/support/drill/recipe.ts'
import { runDrill } from '../../e2e/support/drill/run-drill.ts'
import { type ReportFigure, singleValue } from '../figure.ts'

/** `archive_timeout` of the server, an upper bound of the recovery point. */
const ARCHIVE_SECONDS = 5

const RECIPES: Readonly<Record<string, () => Promise<Recipe>>> = {
  backup: createBackupRecipe,
  archive: () => createArchiveRecipe('archive', openFolderArchive),
  async pgbackrest() {
    const tools = findPgBackRest()
    if (tools === undefined) throw new Error('the recipe requires pgBackRest and PostgreSQL: apt-get install pgbackrest postgresql')
    return createArchiveRecipe('pgbackrest', (folder) => openPgBackRestArchive(folder, tools))
  },
}

async function createArchiveRecipe(name: string, openArchive: (folder: string) => Promise<LogArchive>): Promise<Recipe> {
  if (s3Path() === undefined) throw new Error('the recipe requires versitygw: run npm test -- e2e/drill, which builds it')
  return createPointInTimeRecipe(name, (folder) => startArchivedPostgres(folder, ARCHIVE_SECONDS, openArchive))
}

/** Loses a platform under load and restores it, by each recipe. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      recipe: { type: 'string', default: Object.keys(RECIPES).join(',') },
      videos: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '30' },
    },
  })
  const [videos, secondsAfterBackup] = [Number(values.videos), Number(values.seconds)]
  if (!Number.isSafeInteger(videos) || videos < 1 || !(secondsAfterBackup >= 0)) throw new Error('--videos and --seconds must be numbers')
  for (const name of values.recipe.split(',')) {
    const create = RECIPES[name]
    if (create === undefined) throw new Error(`--recipe must be one of: ${Object.keys(RECIPES).join(', ')}`)
    const recipe = await create()
    try {
      const result = await runDrill(recipe, { videos, writes: 100, secondsAfterBackup }, (line) => console.log(`  ${name}: ${line}`))
      const { acknowledged, lost, lostBeforeBackup, acknowledgedBeforeBackup, newestLostSeconds, restoreSeconds } = result
      const seconds = (row: string, title: string, value: number, detail: string) =>
        report({ row: `${name} ${row}`, title, unit: 's', value: singleValue(value), detail })
      report({
        ...{ row: `${name} lost`, title: 'lost writes that were acknowledged before the backup' },
        ...{ value: singleValue(lostBeforeBackup.length), goal: { atMost: 0 }, detail: `of ${acknowledgedBeforeBackup}` },
      })
      const detail = `${lost} of ${acknowledged} acknowledged writes lost, the newest ${newestLostSeconds.toFixed(1)} s before the disaster`
      seconds('rpo', 'age of the oldest lost write at the disaster', result.rpoSeconds, detail)
      seconds('rto playback', 'disaster to the first played segment', result.playbackSeconds, `restore ${restoreSeconds.toFixed(1)} s`)
      seconds('rto write', 'disaster to the first acknowledged write', result.writeSeconds, `restore ${restoreSeconds.toFixed(1)} s`)
    } finally {
      await recipe.close()
    }
  }
}
