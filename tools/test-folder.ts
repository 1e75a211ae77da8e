// node tools/with-node.mjs tools/test-folder.ts FOLDER: runs the tests of one workspace folder, such as
// `apps/auth`. Nx calls it: `nx affected -t test` runs the tests of the folders that a change can
// affect, and uses cached results for unchanged ones.
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
  const reportFolder = mkdtempSync(join(tmpdir(), 'vitascope-test-folder-'))
  const counts = await runJest({ files, all: false, long: false, report: join(reportFolder, 'report.json') })
  rmSync(reportFolder, { recursive: true })
  console.log(`${counts.passed} passed, ${counts.failed + counts.notRun.length} failed`)
  process.exitCode = counts.failed + counts.notRun.length > 0 ? 1 : 0
}
