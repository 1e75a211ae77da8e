import { expect, test } from '@jest/globals'
import { findPgBackRest, s3Path } from '@vitascope/testing'
import { startArchivedPostgres } from './support/drill/archived-postgres.ts'
import { createBackupRecipe } from './support/drill/backup-recipe.ts'
import { openFolderArchive, openPgBackRestArchive } from './support/drill/log-archive.ts'
import { createPointInTimeRecipe } from './support/drill/point-in-time-recipe.ts'
import type { Recipe } from './support/drill/recipe.ts'
import { runDrill } from './support/drill/run-drill.ts'

const ARCHIVE_SECONDS = 5
const tools = findPgBackRest()
const [withS3, withPgBackRest] = [s3Path() !== undefined, tools !== undefined]

const recipes: [string, boolean, () => Promise<Recipe>][] = [
  ['backup', true, createBackupRecipe],
  [
    'archive',
    withS3,
    () => createPointInTimeRecipe('archive', (folder) => startArchivedPostgres(folder, ARCHIVE_SECONDS, openFolderArchive)),
  ],
  [
    'pgbackrest',
    withS3 && withPgBackRest,
    () =>
      createPointInTimeRecipe('pgbackrest', (folder) =>
        startArchivedPostgres(folder, ARCHIVE_SECONDS, (inside) => {
          if (tools === undefined) throw new Error('unreachable: the recipe is skipped without pgBackRest')
          return openPgBackRestArchive(inside, tools)
        }),
      ),
  ],
]

test.each(recipes.filter(([, isPossible]) => isPossible))(
  'a platform that lost its database and objects is restored by the recipe %s',
  async (_, __, create) => {
    const recipe = await create()
    try {
      const result = await runDrill(recipe, { videos: 5, writes: 200, secondsAfterBackup: 20 }, () => {})
      expect(result.acknowledgedBeforeBackup).toBeGreaterThanOrEqual(200)
      expect(result.lostBeforeBackup).toEqual([])
      expect(result.lost).toBeLessThan(result.acknowledged)
    } finally {
      await recipe.close()
    }
  },
  600_000,
)
