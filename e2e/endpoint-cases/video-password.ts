import { createHash } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Access extends Record<string, unknown> {
  token: string
  expires: number
}

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

/** Creates a video whose profile has this password. */
const createLockedVideo = async ({ clients, owner, video }: Fixture, password: string, fields: object = {}) => {
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
        const id = await createLockedVideo(fixture, secret)
        const otherVideo = await createLockedVideo(fixture, secret)
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
        const id = await createLockedVideo(fixture, 'a')
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
    {
      endpoint: 'POST /video/{video_id}/access',
      async works(fixture) {
        const { clients, owner, playing } = fixture
        const { video_id: id } = await playing()
        const secret = 'Tür auf 🐎'
        const { body: setting } = await clients.owner.post<{ message: { created: string } }>(`/setting/${owner.organisationId}`, {
          password: sha1(secret),
        })
        const settingId = setting.message.created
        const before = await playing()
        await clients.owner.patch(`/video/${id}`, { setting_id: settingId })
        const { uri } = await playing()
        // A cache may have the files under their old URLs.
        expect(uri.hls).not.toBe(before.uri.hls)
        const fetchStatus = async (url: string, token?: string) => {
          const response = await fetch(token === undefined ? url : `${url}?token=${token}`)
          return response.status === 403 ? ((await response.json()) as { code: string }).code : response.status
        }
        await waitFor(async () => (await fetchStatus(uri.hls)) === 'password_required', { describe: 'delivery to require the password' })
        const open = (payload: Record<string, string>) => clients.guest.post<Access>(`/video/${id}/access`, payload)
        const { status, body, headers } = await open({ password: secret })
        expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
        expect(body.expires - Date.now() / 1_000).toBeCloseTo(15 * 60, -1)
        for (const url of [uri.hls, uri.poster_frame, ...Object.values(uri.http)]) {
          expect(await fetchStatus(url)).toBe('password_required')
          expect(await fetchStatus(url, body.token)).toBe(200)
        }
        const renewed = await open({ token: body.token })
        expect([renewed.status, await fetchStatus(uri.hls, renewed.body.token)]).toEqual([200, 200])
        // A personal token opens the files too, but is not exchanged.
        const { body: personal } = await clients.owner.post<Access>(`/video/${id}/token`, { expires_in: 60 })
        expect(await fetchStatus(uri.hls, personal.token)).toBe(200)
        expect((await open({ token: personal.token })).body).toMatchObject({ code: 'password_wrong' })
        // After a change of the password, tokens are no longer exchanged.
        await clients.owner.put(`/setting/${settingId}`, { password: sha1('other') })
        expect((await open({ token: body.token })).body).toMatchObject({ status: 403, code: 'password_wrong' })
        await clients.owner.patch(`/video/${id}`, { setting_id: '' })
        const after = await playing()
        await waitFor(async () => (await fetchStatus(after.uri.hls)) === 200, { describe: 'the files to be public again' })
      },
      async rejectedCalls(fixture) {
        const id = await createLockedVideo(fixture, 'a')
        const { video_id: open } = await fixture.video()
        const call = { caller: 'guest' as const, method: 'POST', path: `/video/${id}/access` }
        return [
          { ...call, payload: {}, status: 400, fields: ['password'] },
          { ...call, payload: { password: 'a', token: 'b' }, status: 400, fields: ['password'] },
          { ...call, payload: { password: 'x'.repeat(1_001) }, status: 400, fields: ['password'] },
          { ...call, payload: { password: 'a', extra: 1 }, status: 400, fields: ['extra'] },
          { ...call, payload: { password: 'b' }, status: 403, code: 'password_wrong' },
          { ...call, payload: { token: 'not.a.token' }, status: 403, code: 'password_wrong' },
          { ...call, path: `/video/${open}/access`, payload: { password: 'a' }, status: 409, code: 'no_password' },
          { ...call, path: '/video/999999/access', payload: { password: 'a' }, status: 404, code: 'video_not_found' },
        ]
      },
    },
  ],
  samples: { payloads: { 'POST /video/{}/access': () => ({ password: 'sample' }) }, make: async () => ({ password: 'sample' }) },
}
