// Runs the tests of one workspace folder, for Nx: `nx affected -t test` runs those that a change
// can affect, and caches the rest.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from './lib/generate.ts'
import { runJest, testFiles } from './lib/jest-run.ts'

const [folder = ''] = process.argv.slice(2)
const files = testFiles({ long: false, filters: [`^${folder}/`] })
if (files.length === 0) {
  console.log(`${folder} has no tests`)
} else {
  await generate()
  const reports = mkdtempSync(join(tmpdir(), 'vitascope-test-folder-'))
  const counts = await runJest({ files, all: false, long: false, report: join(reports, 'report.json') })
  rmSync(reports, { recursive: true })
  console.log(`${counts.passed} passed, ${counts.failed + counts.notRun.length} failed`)
  process.exitCode = counts.failed + counts.notRun.length > 0 ? 1 : 0
}
