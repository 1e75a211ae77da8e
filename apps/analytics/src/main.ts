import { runProcess } from '@vitascope/process'
import { readConfig } from './config.ts'
import { startAnalytics } from './service.ts'

await runProcess('analytics', (log) => startAnalytics(readConfig(process.env), log))
