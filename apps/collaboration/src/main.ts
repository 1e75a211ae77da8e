import { runProcess } from '@vitascope/process'
import { readConfig } from './config.ts'
import { startCollaboration } from './service.ts'

await runProcess('collaboration', (log) => startCollaboration(readConfig(process.env), log))
