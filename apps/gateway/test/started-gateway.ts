import { testLog, waitFor } from '@vitascope/testing'
import { testKeyFiles } from '@vitascope/testing/principal-keys'
import type { GatewayConfig } from '../src/config.ts'
import type { Route } from '../src/server/route/route.ts'
import { startGateway } from '../src/service.ts'

/**
 * Starts a gateway on a free port. Its services are unreachable unless `config` sets their
 * addresses. If it sets the address of auth, the function waits for the connection to auth, which stores the audit log.
 * Otherwise the first write would wait for that connection, and on a slow machine its entry in the audit log could take
 * longer than the allowed 2 s.
 */
export async function startTestGateway(routes: readonly Route[], config: Partial<GatewayConfig> = {}, log = testLog) {
  const gateway = await startUnconnectedGateway(routes, config, log)
  if (config.authAddress !== undefined) await waitFor(() => isConnectedToAuth(gateway.url), { describe: 'the gateway to connect to auth' })
  return gateway
}

/** Starts a gateway like `startTestGateway`, but does not wait for auth. */
export async function startUnconnectedGateway(routes: readonly Route[], config: Partial<GatewayConfig> = {}, log = testLog) {
  const unreachable = '127.0.0.1:9'
  const running = await startGateway(
    {
      host: '127.0.0.1',
      port: 0,
      publicUrl: undefined,
      metricsListen: '127.0.0.1:0',
      authAddress: unreachable,
      catalogueAddress: unreachable,
      encodingAddress: unreachable,
      collaborationAddress: unreachable,
      analyticsAddress: unreachable,
      deliveryUrl: `http://${unreachable}`,
      uploadUrl: `http://${unreachable}`,
      principalKeys: testKeyFiles('gateway'),
      idempotencyHashKey: 'a key of these tests',
      redisUrl: undefined,
      limits: 'off',
      uploads: { perAddress: 64, total: 1_000 },
      downloads: { perAddress: 256, total: 4_096 },
      corsOrigins: ['*'],
      trustedProxies: [],
      sourceAllow: [],
      doNotTrack: 'respect',
      webDir: '/unreachable',
      docsDir: '/unreachable',
      consoleDir: '/unreachable',
      ...config,
    },
    routes,
    log,
    { validateResponses: true },
  )
  return { ...running, url: `http://${running.address}` }
}

/** Returns whether the readiness check does not list auth as unavailable. */
async function isConnectedToAuth(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`)
  const { detail = '' } = (await response.json()) as { detail?: string }
  return !/\bauth\b/.test(detail)
}

/** Returns the authorization header of a key. */
export function withKey(key: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${key}:x`).toString('base64')}` }
}
