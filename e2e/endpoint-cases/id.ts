import { expect } from '@jest/globals'
import type { NounRows } from '../support/table-row.ts'

const text = /^[A-Za-z0-9]+$/

export const idRows: NounRows = {
  noun: 'id',
  rows: [
    {
      endpoint: 'GET /id',
      async works({ clients }) {
        const first = await clients.guest.get<{ id: string }>('/id')
        const second = await clients.owner.get<{ id: string }>('/id')
        expect([first.status, second.status]).toEqual([200, 200])
        expect(Number(second.body.id)).toBeGreaterThan(Number(first.body.id))
      },
      rejectedCalls: async () => [{ caller: 'guest', method: 'POST', path: '/id', status: 405 }],
    },
    {
      endpoint: 'GET /id/char/{length}',
      async works({ clients }) {
        for (const length of [4, 5, 9, 10]) {
          const { status, body } = await clients.system.get<{ id: string; length: number }>(`/id/char/${length}`)
          expect([status, body.length, body.id.length]).toEqual([200, length, length])
          expect(body.id).toMatch(text)
        }
      },
      rejectedCalls: async () => [
        ...['3', '11', '-5', '5.5', 'x'].map((length) => ({
          caller: 'system' as const,
          method: 'GET',
          path: `/id/char/${length}`,
          status: 400,
          fields: ['length'],
        })),
        { method: 'GET', path: '/id/char/7', status: 403 },
        { caller: 'guest', method: 'GET', path: '/id/char/7', status: 401 },
      ],
    },
    {
      endpoint: 'GET /id/char',
      async works({ clients }) {
        const { status, body } = await clients.system.get<{ id: string; length: number }>('/id/char')
        expect([status, body.length, body.id.length]).toEqual([200, 7, 7])
      },
      rejectedCalls: async () => [
        { method: 'GET', path: '/id/char', status: 403 },
        { caller: 'system', method: 'POST', path: '/id/char', status: 405 },
      ],
    },
  ],
  samples: { payloads: {} },
}
