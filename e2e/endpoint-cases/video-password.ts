import { createHash } from 'node:crypto'
import { expect } from '@jest/globals'
import type { Fixture, NounRows } from '../support/table-row.ts'

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

/** Creates a video whose profile has this password. */
const locked = async ({ clients, owner, video }: Fixture, password: string, fields: object = {}) => {
  const { body } = await clients.owner.post<{ message: { created: string } }>(`/setting/${owner.organisationId}`, {
    password: sha1(password),
  })
  return (await video({ settings_id: body.message.created, ...fields })).video_id
}
const attempt = ({ clients }: Fixture, id: string, password: string) =>
  clients.guest.get<boolean[]>(`/video/${id}/password/${encodeURIComponent(password)}`)

export const videoPasswordRows: NounRows = {
  noun: 'video-password',
  rows: [
    {
      endpoint: 'GET /video/{id}/password/{password}',
      async works(fixture) {
        const secret = 'Correct horse 🐎/?%'
        const id = await locked(fixture, secret)
        const otherVideo = await locked(fixture, secret)
        expect((await attempt(fixture, id, secret)).body).toEqual([true])
        expect((await attempt(fixture, otherVideo, secret)).body).toEqual([true])
        for (const wrong of ['x', secret.toUpperCase(), sha1(secret), sha1(secret).toUpperCase(), `$argon2id$v=19$m=19456,t=2,p=1$`]) {
          expect((await attempt(fixture, id, wrong)).body).toEqual([false])
        }
        const open = await fixture.video()
        expect((await attempt(fixture, open.video_id, secret)).body).toEqual([false])

        // Six attempts were made earlier. Four more are allowed, and then all are rejected, even the
        // correct one.
        for (let i = 0; i < 4; i++) expect((await attempt(fixture, id, `guess ${i}`)).status).toBe(200)
        const rejected = await attempt(fixture, id, secret)
        expect(rejected.status).toBe(429)
        expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(JSON.stringify(rejected.body)).not.toContain('orrect')
        expect((await attempt(fixture, otherVideo, secret)).body).toEqual([true])
      },
      async rejectedCalls(fixture) {
        const id = await locked(fixture, 'a')
        await fixture.clients.owner.patch(`/video/${id}`, { enabled: 0 })
        return [
          { caller: 'guest', method: 'GET', path: `/video/${id}/password/a`, status: 404, code: 'video_not_found' },
          { caller: 'otherTenant', method: 'GET', path: `/video/${id}/password/a`, status: 404, code: 'video_not_found' },
          { caller: 'guest', method: 'GET', path: '/video/999999/password/a', status: 404, code: 'video_not_found' },
          { caller: 'guest', method: 'GET', path: `/video/${id}/password/${'x'.repeat(1_001)}`, status: 400, fields: ['password'] },
          { caller: 'guest', method: 'GET', path: `/video/${id}/password/`, status: 404, code: 'not_found' },
          { caller: 'owner', method: 'POST', path: `/video/${id}/password/a`, status: 405 },
        ]
      },
    },
  ],
  samples: { payloads: {}, make: async () => ({ password: 'sample' }) },
}
