import { expect } from '@jest/globals'
import type { Fixture, NounRows } from '../support/table-row.ts'
import { upload, waitUntilSettled } from '../support/video-steps.ts'

interface JobList extends Record<string, unknown> {
  jobs: { job_id: string; state: string }[]
  queued: number
  running: number
}

/** Creates a job whose source never ends, so that it can be cancelled. */
async function createLongJob({ clients, owner, sources }: Fixture) {
  sources.setHandler('/endless.mp4', (_, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' })
    response.write(Buffer.alloc(1024))
  })
  const { body } = await clients.owner.post<{ id: string; job_id: string }>('/video/upload', {
    url: `${sources.url}/endless.mp4`,
    organisation_id: owner.organisationId,
  })
  return body
}

export const jobRows: NounRows = {
  noun: 'job',
  rows: [
    {
      endpoint: 'GET /job',
      async works(fixture) {
        const { clients, owner } = fixture
        const { id, job_id } = await createLongJob(fixture)
        const list = async (query: string, caller: 'uploader' | 'system' | 'otherTenant' = 'uploader') => {
          const { status, body } = await clients[caller].get<JobList>(`/job?${query}`)
          expect(status).toBe(200)
          return body
        }
        const active = await list('state=active')
        expect(active.jobs[0]).toMatchObject({ job_id, video_id: id, organisation_id: owner.organisationId, action: 'new video' })
        expect(active.queued + active.running).toBe(active.jobs.length)
        await clients.uploader.delete(`/job/${job_id}`)
        const { media_id } = (await clients.owner.get<{ media_id: string }>(`/video/${id}`)).body
        const [cancelled, ...others] = (await list(`media_id=${media_id}`)).jobs
        expect([cancelled, others]).toMatchObject([{ job_id, state: 'cancelled', error: { code: 4005 } }, []])
        expect((await list(`media_id=${media_id}&state=failed`)).jobs).toEqual([])
        expect((await list(`media_id=${media_id}`, 'otherTenant')).jobs).toEqual([])
        for (const query of [`media_id=${media_id}`, `media_id=${media_id}&organisation_id=${owner.organisationId}`]) {
          expect((await list(query, 'system')).jobs).toEqual([cancelled])
        }
        const { job_id: later } = await createLongJob(fixture)
        await clients.uploader.delete(`/job/${later}`)
        expect((await list('limit=2')).jobs.map((job) => job.job_id)).toEqual([later, job_id])
        expect((await list('limit=1&start=2')).jobs.map((job) => job.job_id)).toEqual([job_id])
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/job?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'system', method: 'GET', path: '/job?organisation_id=999999', status: 404 },
        {
          method: 'GET',
          path: '/job?start=0&limit=101&state=gone&media_id=x',
          status: 400,
          fields: ['limit', 'media_id', 'start', 'state'],
        },
        { caller: 'guest', method: 'GET', path: '/job', status: 401 },
      ],
    },
    {
      endpoint: 'GET /job/{job_id}',
      async works(fixture) {
        const { id, job_id } = await createLongJob(fixture)
        const { status, body } = await fixture.clients.uploader.get(`/job/${job_id}`)
        expect([status, body]).toMatchObject([200, { job_id, video_id: id, action: 'new video' }])
        await fixture.clients.uploader.delete(`/job/${job_id}`)
      },
      async rejectedCalls(fixture) {
        const { job_id } = await createLongJob(fixture)
        await fixture.clients.owner.delete(`/job/${job_id}`)
        return [
          { caller: 'otherTenant', method: 'GET', path: `/job/${job_id}`, status: 404 },
          { method: 'GET', path: '/job/999999999', status: 404 },
          { caller: 'guest', method: 'GET', path: `/job/${job_id}`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /job/{job_id}',
      async works(fixture) {
        const { id, job_id } = await createLongJob(fixture)
        const { status, body } = await fixture.clients.uploader.delete(`/job/${job_id}`)
        expect([status, body]).toMatchObject([202, { job_id, state: 'cancelled' }])
        expect((await fixture.clients.owner.get(`/video/${id}`)).body).toMatchObject({ status: { status: 'failed', code: 4005 } })
      },
      async rejectedCalls(fixture) {
        const { job_id } = await createLongJob(fixture)
        await fixture.clients.owner.delete(`/job/${job_id}`)
        return [
          { method: 'DELETE', path: `/job/${job_id}`, status: 409, code: 'job_finished' },
          { caller: 'otherTenant', method: 'DELETE', path: `/job/${job_id}`, status: 404 },
        ]
      },
    },
    {
      endpoint: 'POST /job/{job_id}/retry',
      async works(fixture) {
        const { id, job_id } = await createLongJob(fixture)
        await fixture.clients.uploader.delete(`/job/${job_id}`)
        const { status, body } = await fixture.clients.uploader.post<{ job_id: string }>(`/job/${job_id}/retry`)
        expect([status, body]).toMatchObject([202, { video_id: id, action: 'new video' }])
        expect(body.job_id).not.toBe(job_id)
        expect((await fixture.clients.owner.get(`/video/${id}`)).body).toMatchObject({ status: { status: 'encoding', code: 2 } })
        await fixture.clients.uploader.delete(`/job/${body.job_id}`)
      },
      async rejectedCalls(fixture) {
        const { job_id } = await createLongJob(fixture)
        const path = `/job/${job_id}/retry`
        const retryResponse = await fixture.clients.owner.post(path)
        expect([retryResponse.status, retryResponse.body]).toMatchObject([409, { code: 'job_not_failed' }])
        await fixture.clients.owner.delete(`/job/${job_id}`)
        const { body } = await fixture.clients.owner.post<{ job_id: string }>(path)
        await fixture.clients.owner.delete(`/job/${body.job_id}`)
        return [
          { method: 'POST', path, status: 409, code: 'job_overtaken' },
          { caller: 'otherTenant', method: 'POST', path, status: 404 },
          { method: 'POST', path: '/job/999999999/retry', status: 404 },
          { caller: 'guest', method: 'POST', path, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {},
    /** A failed job can be retried. */
    async make({ clients, owner, sources }) {
      const { id, job_id } = await upload(clients.owner, owner.organisationId, `${sources.url}/none.mp4`)
      await waitUntilSettled(clients.owner, id)
      return { job_id }
    },
  },
}
