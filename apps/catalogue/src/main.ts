import { runProcess } from '@vitascope/process'
import { readConfig } from './config.ts'
import { startCatalogue } from './service.ts'

await runProcess('catalogue', (log) => startCatalogue(readConfig(process.env), log))
