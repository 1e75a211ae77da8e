import { afterAll, expect, test } from '@jest/globals'
import { extendTimeout, recordFigure, s3Path } from '@vitascope/testing'
import { startArchivedPostgres } from './support/drill/archived-postgres.ts'
import { openFolderArchive } from './support/drill/log-archive.ts'
import { createPointInTimeRecipe } from './support/drill/point-in-time-recipe.ts'
import type { Recipe } from './support/drill/recipe.ts'
import { runDrill } from './support/drill/run-drill.ts'

// Faults: C25
const ARCHIVE_SECONDS = 2
const testWithS3 = s3Path() === undefined ? test.skip : test

let recipe: Recipe | undefined
afterAll(() => recipe?.close(), 30_000)

testWithS3(
  'a lost platform is restored from the archive of its database and a bucket with versioning',
  async () => {
    recipe = await createPointInTimeRecipe('archive', (folder) => startArchivedPostgres(folder, ARCHIVE_SECONDS, openFolderArchive))
    const result = await runDrill(recipe, { videos: 1, writes: 20, secondsAfterBackup: ARCHIVE_SECONDS + 1 }, () => {})
    recordFigure('C25', `the newest ${result.rpoSeconds.toFixed(1)} s of writes lost with an archive of every ${ARCHIVE_SECONDS} s`)
    expect(result.acknowledgedBeforeBackup).toBeGreaterThanOrEqual(20)
    expect(result.lostBeforeBackup).toEqual([])
    // The server archives a segment at the latest after this time, and copies it within a second.
    expect(result.rpoSeconds * 1000).toBeLessThan(extendTimeout((ARCHIVE_SECONDS + 3) * 1000))
  },
  180_000,
)
