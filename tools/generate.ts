// npm run generate: generates the artefacts that are not committed, then the committed ones:
// docs/openapi.json from the route table, docs/reference/metrics.md and docs/reference/settings.md from
// the source, docs/reference/faults.md from the tests, and the chart's documents from its values.
import { writeChartDocuments } from './chart-documents.ts'
import { writeFaultReference } from './faults/fault-reference.ts'
import { generate } from './lib/generate.ts'
import { runCommand } from './lib/run-command.ts'
import { writeMetricsReference } from './metrics-reference.ts'

const start = Date.now()
await generate((line) => console.log(line))
writeChartDocuments()
writeMetricsReference()
writeFaultReference()
await run('apps/gateway/src/openapi-file.ts', 'docs/openapi.json')
await run('tools/settings-reference.ts', 'docs/reference/settings.md')
console.log(`generated files are up to date (${((Date.now() - start) / 1000).toFixed(2)} s)`)

/** Runs in a separate process, because the program imports code that did not exist when this one started. */
async function run(program: string, file: string): Promise<void> {
  const { code, output } = await runCommand('node', ['--disable-warning=ExperimentalWarning', program])
  if (code !== 0) throw new Error(`${file} could not be generated:\n${output}`)
}
