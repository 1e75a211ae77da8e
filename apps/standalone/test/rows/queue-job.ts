import { expect } from '@jest/globals'
import type { House, NounRows } from '../support/table-row.ts'

interface QueueJob {
  job_id: string
  job_name: string
  priority: string
  data: string
}

const add = async ({ as }: House, more: Record<string, unknown> = {}) => {
  const { status, body } = await as.system.post<[string]>('/queue-job', { priority: 1, job_name: 'check', ...more })
  expect(status).toBe(200)
  return body[0]
}
const pop = async ({ as }: House, query = '') => {
  const { status, body } = await as.system.get<QueueJob | null>(`/queue-job${query}`)
  expect(status).toBe(200)
  return body
}
const empty = async (house: House) => {
  while ((await pop(house)) !== null);
}

export const queueJobRows: NounRows = {
  noun: 'queue-job',
  rows: [
    {
      endpoint: 'POST /queue-job',
      async works(house) {
        await empty(house)
        const name = 'x'.repeat(255)
        const data = JSON.stringify('x'.repeat(65_534))
        const first = await add(house, { job_name: name, data })
        const second = await add(house, { priority: '10', data: '{"video_id":"7","list":[1]}' })
        const third = await add(house, { priority: 10 })
        expect(await pop(house)).toMatchObject({ job_id: second, priority: '10', data: '{"video_id":"7","list":[1]}' })
        expect(await pop(house)).toMatchObject({ job_id: third, data: '' })
        expect(await pop(house)).toMatchObject({ job_id: first, job_name: name, priority: '1', data })
        expect(await pop(house)).toBeNull()
        const form = await house.as.system.send<[string]>('POST', '/queue-job', {
          body: new URLSearchParams({ priority: '1', job_name: 'form', data: '{"a":1}' }),
        })
        expect([form.status, (await pop(house))?.data]).toEqual([200, '{"a":1}'])
      },
      refused: async () => [
        ...[5, 0, '11', true].map((priority) => ({
          as: 'system' as const,
          method: 'POST',
          path: '/queue-job',
          payload: { priority, job_name: 'check' },
          status: 400,
          fields: ['priority'],
        })),
        ...['x'.repeat(256), '', ' '].map((job_name) => ({
          as: 'system' as const,
          method: 'POST',
          path: '/queue-job',
          payload: { priority: 1, job_name },
          status: 400,
          fields: ['job_name'],
        })),
        ...[JSON.stringify('x'.repeat(65_535)), '{"a":', { a: 1 }].map((data) => ({
          as: 'system' as const,
          method: 'POST',
          path: '/queue-job',
          payload: { priority: 2, job_name: 'check', data },
          status: 400,
          fields: ['priority', 'data'],
        })),
        { method: 'POST', path: '/queue-job', payload: { priority: 1, job_name: 'check' }, status: 403 },
        { as: 'guest', method: 'POST', path: '/queue-job', payload: { priority: 1, job_name: 'check' }, status: 401 },
      ],
    },
    {
      endpoint: 'GET /queue-job',
      async works(house) {
        await empty(house)
        const ids = [await add(house), await add(house), await add(house)]
        const leased = await pop(house, '?lease=43200')
        const both = await Promise.all([pop(house), pop(house, '?lease=1'), pop(house)])
        const given = [leased, ...both].map((job) => job?.job_id)
        expect(given.filter((id) => id !== undefined).toSorted()).toEqual(ids.toSorted())
        expect(leased?.job_id).toBe(ids[0])
        const { headers } = await house.as.system.get('/queue-job')
        expect(headers.get('cache-control')).toBe('no-store')
      },
      async refused(house) {
        await add(house)
        return [
          ...['0', '43201', 'x', '1.5'].map((lease) => ({
            as: 'system' as const,
            method: 'GET',
            path: `/queue-job?lease=${lease}`,
            status: 400,
            fields: ['lease'],
          })),
          { as: 'system', method: 'HEAD', path: '/queue-job', status: 405 },
          { method: 'GET', path: '/queue-job', status: 403 },
          { as: 'guest', method: 'GET', path: '/queue-job', status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /queue-job/{job_id}',
      async works(house) {
        await empty(house)
        const [leased, waiting] = [await add(house), await add(house)]
        expect((await pop(house, '?lease=600'))?.job_id).toBe(leased)
        for (const id of [leased, waiting]) {
          const { status, body } = await house.as.system.delete(`/queue-job/${id}`)
          expect([status, body]).toEqual([200, { deleted: true }])
        }
        expect(await pop(house)).toBeNull()
      },
      async refused(house) {
        const id = await add(house)
        return [
          { as: 'system', method: 'DELETE', path: '/queue-job/9007199254740991', status: 404, code: 'queue_job_not_found' },
          { as: 'system', method: 'DELETE', path: '/queue-job/x', status: 404 },
          { method: 'DELETE', path: `/queue-job/${id}`, status: 403 },
        ]
      },
    },
  ],
  samples: { payloads: { 'POST /queue-job': () => ({ priority: 1, job_name: 'check' }) } },
}
