import { writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findPgBackRest, s3Path } from '@vitascope/testing'
import { startArchivedPostgres } from '../../e2e/support/drill/archived-postgres.ts'
import { createBackupRecipe } from '../../e2e/support/drill/backup-recipe.ts'
import { type LogArchive, openFolderArchive, openPgBackRestArchive } from '../../e2e/support/drill/log-archive.ts'
import { createPointInTimeRecipe } from '../../e2e/support/drill/point-in-time-recipe.ts'
import type { Recipe } from '../../e2e/support/drill/recipe.ts'
import { type DrillResult, runDrill } from '../../e2e/support/drill/run-drill.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { describeMachine } from '../results.ts'

/** `archive_timeout` of the server, an upper bound of the recovery point. */
const ARCHIVE_SECONDS = 5
const RESULTS_FILE = join(import.meta.dirname, '../results/drill.md')

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

/** Loses a platform under load and restores it, by each recipe. Writes a page with the results of all recipes. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { recipe: { type: 'string' }, videos: { type: 'string', default: '10' }, seconds: { type: 'string', default: '30' } },
  })
  const [videos, secondsAfterBackup] = [Number(values.videos), Number(values.seconds)]
  if (!Number.isSafeInteger(videos) || videos < 1 || !(secondsAfterBackup >= 0)) throw new Error('--videos and --seconds must be numbers')
  const names = values.recipe?.split(',') ?? Object.keys(RECIPES)
  const results: [string, DrillResult][] = []
  for (const name of names) {
    const create = RECIPES[name]
    if (create === undefined) throw new Error(`--recipe must be one of: ${Object.keys(RECIPES).join(', ')}`)
    const recipe = await create()
    try {
      const result = await runDrill(recipe, { videos, writes: 100, secondsAfterBackup }, (line) => console.log(`  ${name}: ${line}`))
      results.push([name, result])
      reportResult(name, result, report)
    } finally {
      await recipe.close()
    }
  }
  if (values.recipe === undefined) await writeFile(RESULTS_FILE, formatPage({ results, videos, secondsAfterBackup }))
}

function reportResult(name: string, result: DrillResult, report: ReportFigure): void {
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
}

interface Page {
  results: readonly [string, DrillResult][]
  videos: number
  secondsAfterBackup: number
}

function formatPage({ results, videos, secondsAfterBackup }: Page): string {
  const { processor, processors, memoryGib, kernel, node } = describeMachine()
  const rows = results.map(([name, result]) => {
    const times = [result.rpoSeconds, result.playbackSeconds, result.writeSeconds, result.restoreSeconds].map(
      (value) => `${value.toFixed(1)} s`,
    )
    return [
      name,
      ...times,
      `${result.lost} of ${result.acknowledged}`,
      `${result.lostBeforeBackup.length} of ${result.acknowledgedBeforeBackup}`,
    ]
  })
  const header = ['recipe', 'RPO', 'RTO playback', 'RTO write', 'restore', 'lost writes', 'lost writes from before the backup']
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return `# Disaster recovery drill

Measured on ${new Date().toISOString().slice(0, 10)} by \`npm run drill\`, one run for each recipe, on ${processors} processors
(${processor}), ${memoryGib} GiB of memory, Linux ${kernel}, Node.js ${node}.

${lines.join('\n')}

- The platform has ${videos} videos and receives writes during the backup and for ${secondsAfterBackup} s after it. Then all
  processes are killed, and the database, the objects and the data folder are deleted.
- The load average of the machine was ${loadavg()[1]?.toFixed(1)} at the end.
- RPO is the age of the oldest lost write at the disaster. A write is lost if its response was
  successful and the restored platform does not have it.
- RTO is the time from the disaster to the first segment of a video, and to the first successful
  write. The restore begins at once. Its commands are a part of the time, the rest is the start.
- The server of \`archive\` and \`pgbackrest\` archives its log at the latest after ${ARCHIVE_SECONDS} s.
- [Back up and restore](../../docs/operate/backup-and-restore.md) describes the recipes.
`
}
