import { runProcess } from '@vitascope/process'
import { readAuthConfig } from './config.ts'
import { startAuth } from './service.ts'

await runProcess('auth', (log) => startAuth(readAuthConfig(process.env), log))
