// Faults: A6
import { describe, expect, test } from '@jest/globals'
import { createPlayableStatus } from '../publishing/media/status.ts'
import { restrictsAccess, toPublicView, type Video } from './video.ts'
import { createVideoFields } from './video-fields.ts'

const now = new Date('2030-01-01T00:00:00Z')

function buildVideo(more: Partial<Video> = {}): Video {
  return {
    ...createVideoFields('Launch'),
    videoId: '11',
    mediaId: '12',
    organisationId: '1',
    organisationActive: true,
    ipRestricted: false,
    creatorId: '7',
    lastModifiedById: '7',
    createTime: now,
    updateTime: now,
    status: createPlayableStatus(),
    renditions: undefined,
    poster: undefined,
    deliveryVersion: '',
    metadata: [],
    downloadAllowed: false,
    captions: [],
    overlays: [],
    ...more,
  }
}

describe('the public view of a video', () => {
  test('has no private text and no allowed IPs', () => {
    const shown = toPublicView(
      buildVideo({ description: 'open', descriptionPrivate: 'secret', allowedIps: ['192.0.2.1'], ipRestricted: true }),
      now,
    )
    expect(shown).toMatchObject({ description: 'open', descriptionPrivate: '', allowedIps: [], ipRestricted: true, creatorId: '7' })
  })
  test('has only public metadata', () => {
    const entry = { name: 'genre', value: 'film', private: false, readOnly: true }
    const shown = toPublicView(buildVideo({ metadata: [entry, { ...entry, name: 'budget', private: true }] }), now)
    expect(shown.metadata).toEqual([entry])
  })
  test.each([
    ['a disabled video', { enabled: false }],
    ['a private video', { visibility: 'private' }],
    ['a video of an inactive organisation', { organisationActive: false }],
  ])('rejects %s as not found', (_, overrides) => {
    expect(() => toPublicView(buildVideo(overrides), now)).toThrow(
      expect.objectContaining({ kind: 'not_found', reason: 'VIDEO_NOT_FOUND' }),
    )
  })
  test('rejects an expired video with its own message', () => {
    const contentExpiry = { expireTime: now, message: 'come to the cinema' }
    expect(() => toPublicView(buildVideo({ contentExpiry }), now)).toThrow(
      expect.objectContaining({ reason: 'VIDEO_EXPIRED', message: 'come to the cinema' }),
    )
    expect(toPublicView(buildVideo({ contentExpiry }), new Date(now.getTime() - 1)).videoId).toBe('11')
  })
})

test.each([
  ['disabling', { enabled: false }, true],
  ['making it private', { visibility: 'private' }, true],
  ['making it unlisted', { visibility: 'unlisted' }, false],
  ['address rules', { allowedIps: ['192.0.2.2'] }, true],
  ['removing the address rules', { allowedIps: [] }, false],
  ['the same address rules', { allowedIps: ['192.0.2.1'] }, false],
  ['an earlier expiry', { contentExpiry: { expireTime: new Date(1_000), message: '' } }, true],
  ['a later expiry', { contentExpiry: { expireTime: new Date(3_000), message: '' } }, false],
  ['the same expiry with another message', { contentExpiry: { expireTime: new Date(2_000), message: 'Over' } }, false],
  ['no expiry', { contentExpiry: undefined }, false],
  ['another title', { title: 'Landing' }, false],
])('%s restricts access: %s', (_, change, expected) => {
  const before = createVideoFields('Launch')
  before.allowedIps = ['192.0.2.1']
  before.contentExpiry = { expireTime: new Date(2_000), message: '' }
  expect(restrictsAccess(before, { ...before, ...change })).toBe(expected)
})

test('the first expiry restricts access', () => {
  const before = createVideoFields('Launch')
  expect(restrictsAccess(before, { ...before, contentExpiry: { expireTime: new Date(1_000), message: '' } })).toBe(true)
})
