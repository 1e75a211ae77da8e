import { runProcess } from '@vitascope/process'
import { readDeliveryConfig } from './config.ts'
import { startDelivery } from './service.ts'

await runProcess('delivery', (log) => startDelivery(readDeliveryConfig(process.env), log))
