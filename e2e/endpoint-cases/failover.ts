import { expect } from '@jest/globals'
import type { NounRows } from '../support/table-row.ts'

interface Failovers extends Record<string, unknown> {
  services: { service: string; available: boolean; has_repair: boolean; failovers: unknown[] }[]
}

export const failoverRows: NounRows = {
  noun: 'failover',
  rows: [
    {
      endpoint: 'GET /failover',
      // A database with failovers is that of e2e/failover.test.ts.
      async works({ clients }) {
        const { status, body } = await clients.system.get<Failovers>('/failover?limit=100')
        expect(status).toBe(200)
        const row = (service: string, has_repair: boolean) => ({ service, available: true, has_repair, failovers: [] })
        expect(body.services).toEqual([
          row('auth', false),
          row('catalogue', true),
          row('encoding', true),
          row('collaboration', false),
          row('analytics', false),
        ])
      },
      rejectedCalls: async () => [
        ...(['owner', 'uploader', 'otherTenant', 'guest'] as const).map((caller) => ({
          ...{ caller, method: 'GET', path: '/failover' },
          status: caller === 'guest' ? 401 : 403,
        })),
        { caller: 'system', method: 'GET', path: '/failover?limit=0', status: 400, fields: ['limit'] },
        { caller: 'system', method: 'GET', path: '/failover?limit=101', status: 400, fields: ['limit'] },
      ],
    },
  ],
  samples: { payloads: {} },
}
