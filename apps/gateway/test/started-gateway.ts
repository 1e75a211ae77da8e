import { principalKey } from '@vitascope/grpc'
import { testLog } from '@vitascope/testing'
import type { GatewayConfig } from '../src/config.ts'
import type { Route } from '../src/route.ts'
import { startGateway } from '../src/service.ts'

export const testPrincipalKey = principalKey('a secret of these tests, long enough')

/** A gateway on a free port; nothing is there behind it unless `config` says where. */
export async function startTestGateway(routes: readonly Route[], config: Partial<GatewayConfig> = {}, log = testLog) {
  const nowhere = '127.0.0.1:9'
  const running = await startGateway(
    {
      host: '127.0.0.1',
      port: 0,
      publicUrl: undefined,
      metricsListen: '127.0.0.1:0',
      authAddress: nowhere,
      catalogueAddress: nowhere,
      encodingAddress: nowhere,
      collaborationAddress: nowhere,
      analyticsAddress: nowhere,
      deliveryUrl: `http://${nowhere}`,
      uploadUrl: `http://${nowhere}`,
      principalKey: testPrincipalKey,
      redisUrl: undefined,
      limits: 'off',
      corsOrigins: ['*'],
      trustedProxies: [],
      sourceAllow: [],
      doNotTrack: 'respect',
      webDir: '/nowhere',
      ...config,
    },
    routes,
    log,
    { checkAnswers: true },
  )
  return { ...running, url: `http://${running.address}` }
}

/** The header of a key. */
export function withKey(key: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${key}:x`).toString('base64')}` }
}
