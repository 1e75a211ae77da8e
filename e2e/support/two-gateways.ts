import { join } from 'node:path'
import { createLogPrinter } from '@vitascope/platform'
import { freePort, waitFor } from '@vitascope/testing'
import { superviseChild } from '../../apps/standalone/src/child.ts'
import { startTestPlatform, type TestPlatform } from './test-platform.ts'

const GATEWAY = join(import.meta.dirname, '../../apps/gateway/src/main.ts')

/**
 * The platform with a second gateway, which is also restarted when it dies. Its name for `pid` is
 * `gateway-2`.
 */
export interface TwoGateways extends TestPlatform {
  /** URLs of both gateways, the platform's own first. */
  gateways: readonly [string, string]
}

/** Starts both gateways. If `main` is set, the second one runs that program. */
export async function startTwoGateways(env: Record<string, string>, main = GATEWAY): Promise<TwoGateways> {
  const addresses: Record<string, string> = {}
  for (const name of ['AUTH', 'CATALOGUE', 'ENCODING', 'COLLABORATION', 'ANALYTICS']) {
    const address = `127.0.0.1:${await freePort()}`
    addresses[`VITASCOPE_${name}_LISTEN`] = address
    addresses[`VITASCOPE_${name}_ADDRESS`] = address
  }
  const uploads = `127.0.0.1:${await freePort()}`
  addresses['VITASCOPE_ENCODING_UPLOAD_LISTEN'] = uploads
  addresses['VITASCOPE_ENCODING_UPLOAD_URL'] = `http://${uploads}`
  const shared = { ...addresses, ...env }
  const platform = await startTestPlatform(shared)
  const port = await freePort()
  const printed: string[] = []
  const print = createLogPrinter({ write: (text: string) => void printed.push(text) })
  const gatewayEnv = {
    PATH: `${process.env['PATH']}`,
    VITASCOPE_PORT: String(port),
    VITASCOPE_PUBLIC_URL: platform.url,
    // Media requests of the second gateway are sent to the first one.
    VITASCOPE_DELIVERY_URL: platform.url,
    VITASCOPE_SIGNING_KEY_FILE: join(platform.dataDir, 'secrets', 'signing-keys', 'gateway.key'),
    VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE: join(platform.dataDir, 'secrets', 'idempotency-hash-key'),
  }
  const second = superviseChild(
    { name: 'gateway-2', main, env: { VITASCOPE_SOURCE_ALLOW: '127.0.0.0/8', VITASCOPE_LIMITS: 'off', ...shared, ...gatewayEnv } },
    print,
  )
  const url = `http://127.0.0.1:${port}`
  const all: TwoGateways = {
    ...platform,
    gateways: [platform.url, url],
    pid: (name) => (name === 'gateway-2' ? second.pid() : platform.pid(name)),
    log: () => platform.log() + printed.join(''),
    async remove() {
      await second.stop()
      await platform.remove()
    },
  }
  try {
    await waitFor(() => fetch(`${url}/readyz`).then(({ ok }) => ok), { timeout: 60_000, describe: 'the second gateway to be ready' })
    return all
  } catch (error) {
    await all.remove()
    throw error
  }
}
