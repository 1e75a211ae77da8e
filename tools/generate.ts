// npm run generate: generates the artefacts that are not committed, and these committed files:
// - docs/openapi.json and docs/reference/problem-codes.md from the route table
// - docs/reference/metrics.md and docs/reference/settings.md from the source
// - docs/reference/api-changes.md from docs/openapi.json and the last release
// - docs/reference/faults.md from the tests
// - the documents of the chart from its values
// With --artefacts it generates only the artefacts, as the build of the images does, which has no tests.
import { writeChartDocuments } from './chart-documents.ts'
import { writeFaultReference } from './faults/fault-reference.ts'
import { generate, SITE } from './lib/generate.ts'
import { runCommand } from './lib/run-command.ts'
import { writeMetricsReference } from './metrics-reference.ts'

const start = Date.now()
const log = (line: string) => console.log(line)
if (!process.argv.includes('--artefacts')) {
  await generate(log, SITE)
  writeChartDocuments()
  writeMetricsReference()
  writeFaultReference()
  await run('apps/gateway/src/openapi-file.ts', 'docs/openapi.json')
  await run('tools/problem-reference.ts', 'docs/reference/problem-codes.md')
  await run('tools/settings-reference.ts', 'docs/reference/settings.md')
  await run('tools/api-changes.ts', 'docs/reference/api-changes.md')
}
await generate(log)
console.log(`generated files are up to date (${((Date.now() - start) / 1000).toFixed(2)} s)`)

/** Runs in a separate process, because the program imports code that did not exist when this one started. */
async function run(program: string, file: string): Promise<void> {
  const { code, output } = await runCommand('node', ['--disable-warning=ExperimentalWarning', program])
  if (code !== 0) throw new Error(`${file} could not be generated:\n${output}`)
  if (output !== '') log(output)
}
