import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { SignJWT } from 'jose'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Key extends Record<string, unknown> {
  key_id: string
  algorithm: string
  active: boolean
}

const createPair = () => generateKeyPairSync('ed25519')
const toPem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const newPayload = () => ({ name: 'Web site', public_key: toPem(createPair().publicKey), active: 0 })
const listPath = ({ owner }: Fixture) => `/organisation/${owner.organisationId}/playback-keys`

const createKey = async (fixture: Fixture, payload: Record<string, unknown> = newPayload()) => {
  const { status, body } = await fixture.clients.owner.post<Key>(listPath(fixture), payload)
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}
const removeKeys = async (fixture: Fixture) => {
  for (const { key_id } of (await fixture.clients.owner.get<Key[]>(listPath(fixture))).body) {
    expect((await fixture.clients.owner.delete(`${listPath(fixture)}/${key_id}`)).status).toBe(200)
  }
}

export const playbackKeyRows: NounRows = {
  noun: 'playback-keys',
  rows: [
    {
      endpoint: 'GET /organisation/{organisation_id}/playback-keys',
      async works(fixture) {
        await removeKeys(fixture)
        const created = [await createKey(fixture), await createKey(fixture, { ...newPayload(), name: 'n'.repeat(100), active: 1 })]
        for (const caller of ['owner', 'uploader', 'system'] as const) {
          const { status, body } = await fixture.clients[caller].get<Key[]>(listPath(fixture))
          expect([status, body]).toEqual([200, created])
        }
      },
      async rejectedCalls(fixture) {
        const call = { method: 'GET', path: listPath(fixture) }
        return [
          { ...call, caller: 'otherTenant', status: 403, code: 'foreign_organisation' },
          { ...call, caller: 'guest', status: 401 },
          { ...call, path: '/organisation/999999/playback-keys', status: 403 },
        ]
      },
    },
    {
      endpoint: 'POST /organisation/{organisation_id}/playback-keys',
      async works(fixture) {
        await removeKeys(fixture)
        const pairs = [createPair(), createPair()] as const
        const jwk = pairs[1].publicKey.export({ format: 'jwk' })
        const keys = [await createKey(fixture, { public_key: toPem(pairs[0].publicKey) }), await createKey(fixture, { public_key: jwk })]
        expect(keys).toMatchObject(
          pairs.map(({ publicKey }) => ({ name: '', algorithm: 'EdDSA', public_key: toPem(publicKey), active: true })),
        )
        const video = await fixture.playing()
        const path = `/video/${video.video_id}`
        expect((await fixture.clients.owner.patch(path, { security: { token_required_platform: true } })).status).toBe(200)
        try {
          const { uri } = await fixture.playing()
          const fetchWith = (token: string) => fetch(`${uri.hls}?token=${token}`)
          for (const [index, { privateKey }] of pairs.entries()) {
            const sign = (claims: Record<string, unknown>) =>
              new SignJWT({ sub: video.video_id, exp: Math.floor(Date.now() / 1_000) + 60, ...claims })
                .setProtectedHeader({ alg: 'EdDSA', kid: keys[index]?.key_id ?? '' })
                .sign(privateKey)
            const token = await sign({})
            const foreignPage = await fetch(`${fixture.platform.url}/player/${video.video_id}?token=${await sign({ country: 'NL' })}`)
            expect([foreignPage.status, await foreignPage.text()]).toEqual([
              403,
              expect.stringContaining('Your link is valid on another page'),
            ])
            await waitFor(async () => (await fetchWith(token)).status === 200, { describe: 'a token of the key to be accepted' })
            for (const [claims, status, code] of [
              [{ sub: '1' }, 401, 'token_wrong_video'],
              [{ exp: 1 }, 401, 'token_expired'],
              [{ nbf: Math.floor(Date.now() / 1_000) + 3_600 }, 401, 'token_not_yet_valid'],
              [{ aud: 'example.com' }, 401, 'token_wrong_domain'],
              [{ kinds: ['image'] }, 403, 'token_wrong_kind'],
              [{ max_height: 1 }, 403, 'token_wrong_height'],
              [{ max_height: 'low' }, 401, 'token_invalid_claim'],
            ] as const) {
              const wrong = await sign(claims)
              const response = await fetchWith(wrong)
              expect([response.status, await response.json()]).toMatchObject([status, { code, status }])
              const request = { video_id: video.video_id, kind: 'manifest', address: '127.0.0.1', token: wrong, height: 100 }
              expect((await fixture.clients.owner.post('/security/explain', request)).body).toMatchObject({ allowed: false, code })
            }
          }
        } finally {
          await fixture.clients.owner.patch(path, { security: { token_required_platform: false } })
        }
      },
      async rejectedCalls(fixture) {
        await removeKeys(fixture)
        const { public_key } = await createKey(fixture)
        const call = { method: 'POST', path: listPath(fixture), payload: newPayload(), status: 400 }
        const { privateKey } = createPair()
        const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 })
        const reject = (key: unknown) => ({ ...call, payload: { public_key: key }, fields: ['public_key'] })
        return [
          { ...call, payload: {}, fields: ['public_key'] },
          { ...call, payload: { ...newPayload(), name: 'n'.repeat(101), active: 2, extra: 1 }, fields: ['active', 'extra', 'name'] },
          reject(''),
          reject(7),
          reject('ssh-ed25519 AAAA'),
          reject('-'.repeat(5_001)),
          reject(toPem(rsa.publicKey)),
          reject(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
          reject(privateKey.export({ format: 'jwk' })),
          reject({ kty: 'oct', k: 'c2VjcmV0' }),
          { ...call, payload: { public_key }, status: 409, code: 'playback_key_exists' },
          { ...call, caller: 'uploader', status: 403 },
          { ...call, caller: 'otherTenant', status: 403, code: 'foreign_organisation' },
          { ...call, caller: 'guest', status: 401 },
        ]
      },
    },
    {
      endpoint: 'PATCH /organisation/{organisation_id}/playback-keys/{key_id}',
      async works(fixture) {
        await removeKeys(fixture)
        const { key_id, ...key } = await createKey(fixture)
        const path = `${listPath(fixture)}/${key_id}`
        for (const [payload, changed] of [
          [{ name: 'Second' }, { name: 'Second', active: false }],
          [{ active: 1 }, { name: 'Second', active: true }],
          [
            { active: 0, name: '' },
            { name: '', active: false },
          ],
        ] as const) {
          const { status, body } = await fixture.clients.owner.patch<Key>(path, payload)
          expect([status, body]).toEqual([200, { ...key, key_id, ...changed }])
          expect((await fixture.clients.owner.get<Key[]>(listPath(fixture))).body).toEqual([body])
        }
      },
      async rejectedCalls(fixture) {
        await removeKeys(fixture)
        await createKey(fixture, { ...newPayload(), active: 1 })
        await createKey(fixture, { ...newPayload(), active: 1 })
        const { key_id } = await createKey(fixture)
        const call = { method: 'PATCH', path: `${listPath(fixture)}/${key_id}`, payload: { name: 'x' }, status: 400 }
        return [
          { ...call, payload: {}, fields: ['payload'] },
          { ...call, payload: { name: 'n'.repeat(101), active: 'yes', token: 'x' }, fields: ['active', 'name', 'token'] },
          { ...call, payload: { active: 1 }, status: 409, code: 'too_many_active_keys' },
          { ...call, path: `${listPath(fixture)}/999999`, status: 404, code: 'playback_key_not_found' },
          {
            ...call,
            path: `/organisation/${fixture.otherTenant.organisationId}/playback-keys/${key_id}`,
            caller: 'otherTenant',
            status: 404,
          },
          { ...call, caller: 'otherTenant', status: 403, code: 'foreign_organisation' },
          { ...call, caller: 'uploader', status: 403 },
          { ...call, caller: 'guest', status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /organisation/{organisation_id}/playback-keys/{key_id}',
      async works(fixture) {
        await removeKeys(fixture)
        const [first, second] = [await createKey(fixture), await createKey(fixture)]
        const { status, body } = await fixture.clients.owner.delete(`${listPath(fixture)}/${first.key_id}`)
        expect([status, body]).toEqual([200, { deleted: true }])
        expect((await fixture.clients.owner.get<Key[]>(listPath(fixture))).body).toEqual([second])
      },
      async rejectedCalls(fixture) {
        const { key_id } = await createKey(fixture)
        const call = { method: 'DELETE', path: `${listPath(fixture)}/${key_id}` }
        return [
          { ...call, path: `${listPath(fixture)}/999999`, status: 404, code: 'playback_key_not_found' },
          {
            ...call,
            path: `/organisation/${fixture.otherTenant.organisationId}/playback-keys/${key_id}`,
            caller: 'otherTenant',
            status: 404,
          },
          { ...call, caller: 'otherTenant', status: 403 },
          { ...call, caller: 'uploader', status: 403 },
          { ...call, caller: 'guest', status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /organisation/{}/playback-keys': newPayload,
      'PATCH /organisation/{}/playback-keys/{}': () => ({ name: 'Renamed' }),
    },
    make: async (fixture) => ({ key_id: (await createKey(fixture)).key_id }),
  },
}
