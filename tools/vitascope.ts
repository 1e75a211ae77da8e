// npm run vitascope -- COMMAND [OPTIONS]: generates missing artefacts, then runs a command of the
// product in this process. `npm run COMMAND` is a short form for some commands, such as `backup`.
import { generate } from './lib/generate.ts'

await generate()
await import('../apps/cli/src/main.ts')
