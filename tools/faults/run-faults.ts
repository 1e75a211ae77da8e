// npm run faults [-- [--long] id|path …]: runs the test files with a `// Faults: …` line, one after
// another, and writes their results and figures to tools/faults/figures.csv and
// docs/reference/faults.md. An id, such as C16, selects the test files of a fault. A path selects the
// files whose path matches.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { generate } from '../lib/generate.ts'
import { isUnitTest, runJest, testFiles } from '../lib/jest-run.ts'
import { root } from '../lib/run-command.ts'
import { provideTestPrograms } from '../lib/test-programs.ts'
import { currentFaults, currentResults, RESULTS_FILE, taggedTests, writeFaultReference } from './fault-reference.ts'
import { type FaultResult, formatResults, mergeResults, type TaggedTest, testResults } from './figures.ts'

const {
  values: { long },
  positionals,
} = parseArgs({ options: { long: { type: 'boolean', default: false } }, allowPositionals: true })
const wantedIds = positionals.filter((word) => /^[A-Z]\d+$/.test(word))
const paths = positionals.filter((word) => !wantedIds.includes(word))

await generate()
const selected = new Set(testFiles({ long, filters: paths }))
const tests = taggedTests().filter(
  ({ test, ids }) => selected.has(join(root, test)) && (wantedIds.length === 0 || ids.some((id) => wantedIds.includes(id))),
)
await provideTestPrograms(tests.map(({ test }) => join(root, test)))
const folder = mkdtempSync(join(tmpdir(), 'vitascope-faults-'))
const failed: string[] = []
const skipped: string[] = []
try {
  for (const tagged of tests) {
    const results = await run(tagged)
    if (results.length === 0) skipped.push(tagged.test)
    else if (results.some(({ passed }) => !passed)) failed.push(tagged.test)
    save(results)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${tests.length - failed.length - skipped.length} files passed, ${failed.length} failed, ${skipped.length} skipped`)
for (const test of failed) console.log(`  failed: ${test}`)
for (const test of skipped) console.log(`  skipped: ${test}`)
if (tests.length === 0) console.error('no test file of a fault matches')
process.exitCode = tests.length === 0 || failed.length > 0 ? 1 : 0

/** Runs a test file and returns a result for each of its faults. Returns none if all tests of the file were skipped. */
async function run(tagged: TaggedTest): Promise<FaultResult[]> {
  const file = join(root, tagged.test)
  const figuresFile = join(folder, 'figures.jsonl')
  rmSync(figuresFile, { force: true })
  const counts = await runJest({
    files: [file],
    all: false,
    long,
    unit: isUnitTest(file),
    // Measurements need a quiet machine. A file that fails is not retried.
    workers: 1,
    figuresFile,
    report: join(folder, `${tagged.test.replaceAll('/', '-')}.json`),
  })
  const failures = counts.failed + counts.notRun.length
  if (failures + counts.passed === 0) return []
  const records = existsSync(figuresFile) ? readFileSync(figuresFile, 'utf8') : ''
  return testResults(tagged, { passed: failures === 0, records })
}

/** Adds results to figures.csv and to the page, so that an interrupted run keeps the first ones. */
function save(results: readonly FaultResult[]): void {
  const faultIds = currentFaults().map(({ id }) => id)
  writeFileSync(RESULTS_FILE, formatResults(mergeResults(currentResults(), results, { faultIds, tests: taggedTests() })))
  writeFaultReference()
}
