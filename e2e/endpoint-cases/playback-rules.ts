import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { CallerName, Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import type { VideoRecord } from '../support/video-steps.ts'

interface Rules extends Record<string, unknown> {
  default: string | null
  rules: Record<string, unknown>[]
  updated: string
}

interface Explanation extends Record<string, unknown> {
  allowed: boolean
  code: string
  rule: { list: string; index: number; name: string } | null
}

const TIME = { from: '2020-01-01 00:00:00', until: '2999-12-31 23:59:59' }
/** A rule with every condition. */
const everything = {
  name: 'everything',
  when: {
    domain: ['example.com', '*.example.org'],
    referrer: ['https://example.com/courses/*'],
    country: ['DE'],
    unknown_country: true,
    cidr: ['192.0.2.0/24', '2001:db8::/32'],
    claim: { group: ['staff', 'pupils'] },
    kind: ['page', 'manifest'],
    time: TIME,
  },
  // biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
  then: 'deny',
  message: 'Not for you.',
  report_only: true,
}
// biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
const deny = (when: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ when, then: 'deny', ...more })
// biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
const allow = (when: Record<string, unknown>) => ({ when, then: 'allow' })

/** Files of a video by their kind. */
function filesOf({ uri }: VideoRecord): Record<string, string> {
  return { manifest: uri.hls, mp4: Object.values(uri.http)[0] ?? '', image: uri.poster_frame }
}

const videoPath = async ({ playing }: Fixture) => `/video/${(await playing()).video_id}/playback-rules`
const organisationPath = async ({ owner }: Fixture) => `/organisation/${owner.organisationId}/playback-rules`

const reads = (toPath: (fixture: Fixture) => Promise<string>, writer: CallerName) => async (fixture: Fixture) => {
  const path = await toPath(fixture)
  const sent = { default: 'allow', rules: [everything, allow({}), deny({ kind: ['download'] })] }
  const changed = await fixture.clients[writer].put<Rules>(path, sent)
  expect([changed.status, changed.body]).toMatchObject([200, sent])
  for (const caller of ['owner', 'uploader', 'system'] as const) {
    const { status, body } = await fixture.clients[caller].get<Rules>(path)
    expect([status, body]).toEqual([200, changed.body])
  }
  await fixture.clients[writer].put(path, { default: null, rules: [] })
  expect((await fixture.clients.owner.get<Rules>(path)).body).toEqual({ default: null, rules: [], updated: expect.any(String) })
}

/** Sets rules and compares what `explain` says about each kind of file with the response of delivery. */
const decides = (toPath: (fixture: Fixture) => Promise<string>, list: string) => async (fixture: Fixture) => {
  const path = await toPath(fixture)
  const rules = [
    deny({ kind: ['mp4'], domain: ['*.example.com'] }, { name: 'no files', message: 'Stream it.' }),
    deny({ cidr: ['198.51.100.0/24'] }),
  ]
  await fixture.clients.owner.put(path, { rules })
  try {
    for (const referrer of ['https://www.example.com/', 'https://example.org/', '']) {
      const video = await fixture.playing()
      const headers: Record<string, string> = referrer === '' ? {} : { referer: referrer }
      for (const [kind, url] of Object.entries(filesOf(video))) {
        const request = { video_id: video.video_id, kind, address: '127.0.0.1', referrer }
        const { body } = await fixture.clients.uploader.post<Explanation>('/security/explain', request)
        const isDenied = kind === 'mp4' && referrer === 'https://www.example.com/'
        expect(body).toMatchObject(
          isDenied
            ? { allowed: false, code: 'rule_refused', message: 'Stream it.', rule: { list, index: 0, name: 'no files' } }
            : { allowed: true, code: '', rule: null },
        )
        await waitFor(async () => (await fetch(url, { headers })).status === (isDenied ? 403 : 200), {
          describe: `${kind} with the referrer "${referrer}" to be ${isDenied ? 'denied' : 'allowed'}`,
        })
      }
    }
  } finally {
    await fixture.clients.owner.put(path, { rules: [] })
  }
}

const readCalls =
  (toPath: (fixture: Fixture) => Promise<string>, foreignStatus: number) =>
  async (fixture: Fixture): Promise<RejectedCall[]> => {
    const path = await toPath(fixture)
    return [
      { caller: 'otherTenant', method: 'GET', path, status: foreignStatus },
      { method: 'GET', path: path.replace(/\d+/, '999999'), status: foreignStatus },
      { caller: 'guest', method: 'GET', path, status: 401 },
    ]
  }

const writeCalls =
  (toPath: (fixture: Fixture) => Promise<string>, foreignStatus: number) =>
  async (fixture: Fixture): Promise<RejectedCall[]> => {
    const path = await toPath(fixture)
    const call = { method: 'PUT', path, status: 400 }
    const one = (rule: unknown) => ({ rules: [rule] })
    return [
      { ...call, payload: {}, fields: ['rules'] },
      { ...call, payload: { rules: [], defaults: 'deny' }, fields: ['defaults'] },
      { ...call, payload: { rules: [], default: 'maybe' }, fields: ['default'] },
      { ...call, payload: { rules: Array.from({ length: 101 }, () => allow({})) }, fields: ['rules'] },
      { ...call, payload: one({ when: {} }), fields: ['rules[0].then'] },
      { ...call, payload: one(deny({ domains: ['example.com'] })), fields: ['rules[0].when.domains'] },
      {
        ...call,
        payload: one(deny({ domain: ['exa*mple.com', 'ok.example'], cidr: ['300.1.1.1'], country: ['UK'], unknown_country: 0 })),
        fields: ['rules[0].when.cidr[0]', 'rules[0].when.country[0]', 'rules[0].when.domain[0]'],
      },
      {
        ...call,
        payload: one(deny({ domain: ['a.*.example.com'], referrer: ['javascript:1'], colour: 'red' })),
        fields: ['rules[0].when.colour', 'rules[0].when.domain[0]', 'rules[0].when.referrer[0]'],
      },
      { ...call, payload: one(deny({ country: ['DE'] })), fields: ['rules[0].when.unknown_country'] },
      { ...call, payload: one(deny({ kind: ['film'] })), fields: ['rules[0].when.kind[0]'] },
      { ...call, payload: one(allow({ kind: [], claim: {} })), fields: ['rules[0].when.claim', 'rules[0].when.kind'] },
      { ...call, payload: one(allow({ domain: [], claim: { group: [] } })), fields: ['rules[0].when.claim.group', 'rules[0].when.domain'] },
      { ...call, payload: one(deny({ claim: { country: ['DE'] } })), fields: ['rules[0].when.claim.country'] },
      { ...call, payload: one(deny({ unknown_country: 1 })), fields: ['rules[0].when.unknown_country'] },
      { ...call, payload: one(deny({ time: {} })), fields: ['rules[0].when.time'] },
      { ...call, payload: one(deny({ time: { from: 'yesterday' } })), fields: ['rules[0].when.time.from'] },
      { ...call, payload: one({ ...allow({}), report_only: 1 }), fields: ['rules[0].report_only'] },
      { ...call, payload: one(deny({}, { name: 'n'.repeat(101) })), fields: ['rules[0].name'] },
      { ...call, caller: 'otherTenant', payload: { rules: [] }, status: foreignStatus },
      { ...call, caller: 'guest', payload: { rules: [] }, status: 401 },
    ]
  }

export const playbackRuleRows: NounRows = {
  noun: 'playback-rules',
  rows: [
    { endpoint: 'GET /video/{video_id}/playback-rules', works: reads(videoPath, 'uploader'), rejectedCalls: readCalls(videoPath, 404) },
    { endpoint: 'PUT /video/{video_id}/playback-rules', works: decides(videoPath, 'video'), rejectedCalls: writeCalls(videoPath, 404) },
    {
      endpoint: 'GET /organisation/{organisation_id}/playback-rules',
      works: reads(organisationPath, 'owner'),
      rejectedCalls: readCalls(organisationPath, 403),
    },
    {
      endpoint: 'PUT /organisation/{organisation_id}/playback-rules',
      works: decides(organisationPath, 'organisation'),
      rejectedCalls: writeCalls(organisationPath, 403),
    },
    {
      endpoint: 'POST /security/explain',
      async works(fixture) {
        const { video_id } = await fixture.playing()
        const path = await videoPath(fixture)
        const staffOnly = allow({ claim: { group: ['staff'] } })
        await fixture.clients.owner.put(path, {
          default: 'deny',
          rules: [deny({ time: TIME }, { name: 'trial', report_only: 1 }), staffOnly],
        })
        const explain = async (more: Record<string, unknown> = {}) => {
          const request = { video_id, kind: 'segment', address: '2001:db8::7', ...more }
          const { status, body } = await fixture.clients.owner.post<Explanation>('/security/explain', request)
          expect(status).toBe(200)
          return body
        }
        const refused = { allowed: false, code: 'rule_refused', decided_by: 'default', rule: null, message: '', claim: 'group' }
        expect(await explain()).toMatchObject({ ...refused, reported: [{ list: 'video', index: 0, name: 'trial' }] })
        expect(await explain({ at: '2019-12-31 23:59:59' })).toMatchObject({ ...refused, reported: [] })
        expect(await explain({ token: 'no.token.at-all' })).toMatchObject({ code: 'token_malformed', decided_by: 'token', claim: '' })
        await fixture.clients.owner.put(path, { rules: [] })
        // The page is shown, and its message says that the token is invalid.
        expect(await explain({ kind: 'page', token: 'no.token.at-all' })).toMatchObject({ allowed: true, code: '' })
        expect(await explain()).toMatchObject({ allowed: true, code: '', rule: null, reported: [] })
        const { video_id: failed } = await fixture.video()
        expect(await explain({ video_id: failed })).toMatchObject({ allowed: false, code: 'not_found', decided_by: 'video' })
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.playing()
        const payload = { video_id, kind: 'page', address: '192.0.2.7' }
        const call = { method: 'POST', path: '/security/explain', payload, status: 400 }
        return [
          { ...call, payload: {}, fields: ['address', 'kind', 'video_id'] },
          { ...call, payload: { ...payload, kind: 'film' }, fields: ['kind'] },
          { ...call, payload: { ...payload, address: '300.1.1.1' }, fields: ['address'] },
          { ...call, payload: { ...payload, height: 0 }, fields: ['height'] },
          { ...call, payload: { ...payload, at: 'now' }, fields: ['at'] },
          { ...call, payload: { ...payload, extra: 1 }, fields: ['extra'] },
          { ...call, payload: { ...payload, video_id: '999999' }, status: 404, code: 'video_not_found' },
          { ...call, caller: 'otherTenant', status: 404, code: 'video_not_found' },
          { ...call, caller: 'guest', status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'PUT /video/{}/playback-rules': () => ({ rules: [] }),
      'PUT /organisation/{}/playback-rules': () => ({ rules: [] }),
      'POST /security/explain': (v) => ({ video_id: v['video_id'], kind: 'page', address: '192.0.2.7' }),
    },
  },
}
