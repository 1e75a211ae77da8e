import { expect } from '@jest/globals'
import type { NounRows } from '../support/table-row.ts'

const text = /^[A-Za-z0-9]+$/

export const idRows: NounRows = {
  noun: 'id',
  rows: [
    {
      endpoint: 'GET /id',
      async works({ as }) {
        const first = await as.guest.get<{ id: string }>('/id')
        const second = await as.owner.get<{ id: string }>('/id')
        expect([first.status, second.status]).toEqual([200, 200])
        expect(Number(second.body.id)).toBeGreaterThan(Number(first.body.id))
      },
      refused: async () => [{ as: 'guest', method: 'POST', path: '/id', status: 405 }],
    },
    {
      endpoint: 'GET /id/char/{length}',
      async works({ as }) {
        for (const length of [4, 5, 9, 10]) {
          const { status, body } = await as.system.get<{ id: string; length: number }>(`/id/char/${length}`)
          expect([status, body.length, body.id.length]).toEqual([200, length, length])
          expect(body.id).toMatch(text)
        }
      },
      refused: async () => [
        ...['3', '11', '-5', '5.5', 'x'].map((length) => ({
          as: 'system' as const,
          method: 'GET',
          path: `/id/char/${length}`,
          status: 400,
          fields: ['length'],
        })),
        { method: 'GET', path: '/id/char/7', status: 403 },
        { as: 'guest', method: 'GET', path: '/id/char/7', status: 401 },
      ],
    },
    {
      endpoint: 'GET /id/char',
      async works({ as }) {
        const { status, body } = await as.system.get<{ id: string; length: number }>('/id/char')
        expect([status, body.length, body.id.length]).toEqual([200, 7, 7])
      },
      refused: async () => [
        { method: 'GET', path: '/id/char', status: 403 },
        { as: 'system', method: 'POST', path: '/id/char', status: 405 },
      ],
    },
  ],
  samples: { payloads: {} },
}
