import { runProcess } from '@vitascope/process'
import { readGatewayConfig } from './config.ts'
import { startGateway } from './service.ts'
import { routes } from './table.ts'

await runProcess('gateway', (log) => startGateway(readGatewayConfig(process.env), routes, log))
