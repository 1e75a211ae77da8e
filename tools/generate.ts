// npm run generate: generates the artefacts that are not committed, then the committed ones:
// docs/openapi.json from the route table, docs/reference/metrics.md from the source, and the chart's
// documents from its values.
import { writeChartDocuments } from './chart-documents.ts'
import { generate } from './lib/generate.ts'
import { runCommand } from './lib/run-command.ts'
import { writeMetricsReference } from './metrics-reference.ts'

const start = Date.now()
await generate((line) => console.log(line))
writeChartDocuments()
writeMetricsReference()
const { code, output } = await runCommand('node', ['--disable-warning=ExperimentalWarning', 'apps/gateway/src/openapi-file.ts'])
if (code !== 0) throw new Error(`docs/openapi.json could not be generated:\n${output}`)
console.log(`generated files are up to date (${((Date.now() - start) / 1000).toFixed(2)} s)`)
