import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'
import { upload } from '../support/video-steps.ts'

interface WorkerFields extends Record<string, unknown> {
  name: string
  connected: boolean
  connected_seconds: number
  heartbeat_age_seconds: number
}
interface Counts extends Record<string, unknown> {
  kind: string
  waiting: number
  running: number
  waiting_seconds: number
}
interface Queue extends Record<string, unknown> {
  kinds: Counts[]
  organisations: (Counts & { organisation_id: string })[]
}

const readQueue = async ({ clients }: Fixture) => {
  const { status, body } = await clients.system.get<Queue>('/worker/queue')
  expect(status).toBe(200)
  return body
}

const rejectedCalls = (path: string) =>
  (['owner', 'uploader', 'otherTenant', 'guest'] as const).map((caller) => ({
    ...{ caller, method: 'GET', path },
    status: caller === 'guest' ? 401 : 403,
  }))

export const workerRows: NounRows = {
  noun: 'worker',
  rows: [
    {
      endpoint: 'GET /worker',
      async works(fixture) {
        await fixture.playing()
        const list = async (query: string) => {
          const { status, body, headers } = await fixture.clients.system.get<WorkerFields[]>(`/worker${query}`)
          expect(status).toBe(200)
          return { workers: body, link: headers.get('link') }
        }
        const { workers, link } = await list('')
        expect(link).toBeNull()
        expect(workers.length).toBeGreaterThan(0)
        for (const worker of workers) {
          expect(worker).toMatchObject({ connected: true, tasks: expect.any(Array) })
          expect(worker.heartbeat_age_seconds).toBeLessThanOrEqual(30)
          expect(worker.connected_seconds).toBeGreaterThanOrEqual(worker.heartbeat_age_seconds)
        }
        expect((await list(`?start=${workers.length + 1}`)).workers).toEqual([])
        expect((await list(`?limit=1`)).workers.map(({ name }) => name)).toEqual([workers[0]?.name])
      },
      rejectedCalls: async () => [
        ...rejectedCalls('/worker'),
        { caller: 'system', method: 'GET', path: '/worker?start=0&limit=101', status: 400, fields: ['start', 'limit'] },
        { caller: 'system', method: 'GET', path: '/worker?cursor=x', status: 400, fields: ['cursor'] },
      ],
    },
    {
      endpoint: 'GET /worker/queue',
      async works(fixture) {
        const { clients, owner, sources } = fixture
        sources.setHandler('/slow.mp4', (_, response) => {
          response.writeHead(200, { 'content-type': 'video/mp4' })
          response.write(Buffer.alloc(1024))
        })
        const { job_id } = await upload(clients.owner, owner.organisationId, `${sources.url}/slow.mp4`)
        const isOwn = (row: Queue['organisations'][number]) => row.organisation_id === owner.organisationId && row.kind === 'fetch'
        const queue = await waitFor(
          async () => {
            const read = await readQueue(fixture)
            return read.organisations.some((row) => isOwn(row) && row.running > 0) ? read : undefined
          },
          { describe: 'the download to be counted' },
        )
        const total = queue.kinds.find(({ kind }) => kind === 'fetch')
        expect(total?.running).toBeGreaterThan(0)
        expect(total).not.toHaveProperty('organisation_id')
        await clients.owner.delete(`/job/${job_id}`)
        await waitFor(async () => !(await readQueue(fixture)).organisations.some((row) => isOwn(row) && row.running > 0), {
          describe: 'the end of the download',
        })
      },
      rejectedCalls: async () => rejectedCalls('/worker/queue'),
    },
  ],
  samples: { payloads: {} },
}
