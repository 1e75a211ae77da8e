import { runProcess } from '@vitascope/process'
import { readGatewayConfig } from '../../apps/gateway/src/config.ts'
import { startGateway } from '../../apps/gateway/src/service.ts'
import { routes } from '../../apps/gateway/src/table.ts'

// Program of a gateway that writes no audit entry for any route.
const unaudited = routes.map((route) => ({ ...route, audited: false }))
await runProcess('gateway-2', (log) => startGateway(readGatewayConfig(process.env), unaudited, log))
