import { expect } from '@jest/globals'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface QueueJob {
  job_id: string
  job_name: string
  priority: string
  data: string
}

const add = async ({ clients }: Fixture, fields: Record<string, unknown> = {}) => {
  const { status, body } = await clients.system.post<[string]>('/queue-job', { priority: 1, job_name: 'check', ...fields })
  expect(status).toBe(200)
  return body[0]
}
const pop = async ({ clients }: Fixture, query = '') => {
  const { status, body } = await clients.system.get<QueueJob | null>(`/queue-job${query}`)
  expect(status).toBe(200)
  return body
}
const empty = async (fixture: Fixture) => {
  while ((await pop(fixture)) !== null);
}

export const queueJobRows: NounRows = {
  noun: 'queue-job',
  rows: [
    {
      endpoint: 'POST /queue-job',
      async works(fixture) {
        await empty(fixture)
        const name = 'x'.repeat(255)
        const data = JSON.stringify('x'.repeat(65_534))
        const first = await add(fixture, { job_name: name, data })
        const second = await add(fixture, { priority: '10', data: '{"video_id":"7","list":[1]}' })
        const third = await add(fixture, { priority: 10 })
        expect(await pop(fixture)).toMatchObject({ job_id: second, priority: '10', data: '{"video_id":"7","list":[1]}' })
        expect(await pop(fixture)).toMatchObject({ job_id: third, data: '' })
        expect(await pop(fixture)).toMatchObject({ job_id: first, job_name: name, priority: '1', data })
        expect(await pop(fixture)).toBeNull()
        const form = await fixture.clients.system.send<[string]>('POST', '/queue-job', {
          body: new URLSearchParams({ priority: '1', job_name: 'form', data: '{"a":1}' }),
        })
        expect([form.status, (await pop(fixture))?.data]).toEqual([200, '{"a":1}'])
      },
      rejectedCalls: async () => [
        ...[5, 0, '11', true].map((priority) => ({
          caller: 'system' as const,
          method: 'POST',
          path: '/queue-job',
          payload: { priority, job_name: 'check' },
          status: 400,
          fields: ['priority'],
        })),
        ...['x'.repeat(256), '', ' '].map((job_name) => ({
          caller: 'system' as const,
          method: 'POST',
          path: '/queue-job',
          payload: { priority: 1, job_name },
          status: 400,
          fields: ['job_name'],
        })),
        ...[JSON.stringify('x'.repeat(65_535)), '{"a":', { a: 1 }].map((data) => ({
          caller: 'system' as const,
          method: 'POST',
          path: '/queue-job',
          payload: { priority: 2, job_name: 'check', data },
          status: 400,
          fields: ['priority', 'data'],
        })),
        { method: 'POST', path: '/queue-job', payload: { priority: 1, job_name: 'check' }, status: 403 },
        { caller: 'guest', method: 'POST', path: '/queue-job', payload: { priority: 1, job_name: 'check' }, status: 401 },
      ],
    },
    {
      endpoint: 'GET /queue-job',
      async works(fixture) {
        await empty(fixture)
        const ids = [await add(fixture), await add(fixture), await add(fixture)]
        const leased = await pop(fixture, '?lease=43200')
        const both = await Promise.all([pop(fixture), pop(fixture, '?lease=1'), pop(fixture)])
        const input = [leased, ...both].map((job) => job?.job_id)
        expect(input.filter((id) => id !== undefined).toSorted()).toEqual(ids.toSorted())
        expect(leased?.job_id).toBe(ids[0])
        const { headers } = await fixture.clients.system.get('/queue-job')
        expect(headers.get('cache-control')).toBe('no-store')
      },
      async rejectedCalls(fixture) {
        await add(fixture)
        return [
          ...['0', '43201', 'x', '1.5'].map((lease) => ({
            caller: 'system' as const,
            method: 'GET',
            path: `/queue-job?lease=${lease}`,
            status: 400,
            fields: ['lease'],
          })),
          { caller: 'system', method: 'HEAD', path: '/queue-job', status: 405 },
          { method: 'GET', path: '/queue-job', status: 403 },
          { caller: 'guest', method: 'GET', path: '/queue-job', status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /queue-job/{job_id}',
      async works(fixture) {
        await empty(fixture)
        const [leased, waiting] = [await add(fixture), await add(fixture)]
        expect((await pop(fixture, '?lease=600'))?.job_id).toBe(leased)
        for (const id of [leased, waiting]) {
          const { status, body } = await fixture.clients.system.delete(`/queue-job/${id}`)
          expect([status, body]).toEqual([200, { deleted: true }])
        }
        expect(await pop(fixture)).toBeNull()
      },
      async rejectedCalls(fixture) {
        const id = await add(fixture)
        return [
          { caller: 'system', method: 'DELETE', path: '/queue-job/9007199254740991', status: 404, code: 'queue_job_not_found' },
          { caller: 'system', method: 'DELETE', path: '/queue-job/x', status: 404 },
          { method: 'DELETE', path: `/queue-job/${id}`, status: 403 },
        ]
      },
    },
  ],
  samples: { payloads: { 'POST /queue-job': () => ({ priority: 1, job_name: 'check' }) } },
}
