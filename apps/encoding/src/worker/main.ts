import { runProcess } from '@vitascope/process'
import { readWorkerConfig } from './config.ts'
import { startWorker } from './worker.ts'

await runProcess('worker', (log) => startWorker(readWorkerConfig(process.env), log))
