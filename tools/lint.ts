import { lintChecks, runChecks } from './checks.ts'
import { generate } from './lib/generate.ts'

await generate((line) => console.log(line))
const results = await runChecks(lintChecks)
const failed = results.filter((result) => !result.passed).map((result) => result.name)
if (failed.length > 0) console.error(`not clean: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
