import { runProcess } from '@vitascope/process'
import { readConfig } from './config.ts'
import { startEncoding } from './service.ts'

await runProcess('encoding', (log) => startEncoding(readConfig(process.env), log))
