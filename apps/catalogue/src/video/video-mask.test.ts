import { describe, expect, test } from '@jest/globals'
import type { DomainError } from '@vitascope/errors'
import { createVideoFields, type VideoFields } from './video-fields.ts'
import { mergeFields } from './video-mask.ts'

const current: VideoFields = {
  ...createVideoFields('Launch'),
  sharing: { text: 'see this', embedWithinSocial: true },
  contentExpiry: { expireTime: new Date('2030-01-01T00:00:00Z'), message: 'gone' },
  publishedWidth: 640,
}
const input = (fields: Partial<VideoFields>): VideoFields => ({ ...createVideoFields(''), ...fields })
const badFields = (fields: Partial<VideoFields>, mask: string[]): string[] => {
  try {
    mergeFields(current, input(fields), mask)
    return []
  } catch (error) {
    return (error as DomainError).fields.map(({ field }) => field)
  }
}

describe('the mask', () => {
  test('keeps the fields that it does not name', () => {
    expect(mergeFields(current, input({ description: 'x', enabled: false }), ['description'])).toEqual({ ...current, description: 'x' })
  })
  test('sets a nested field', () => {
    const after = mergeFields(current, input({ sharing: { text: 'new', embedWithinSocial: false }, hd: { allow: false, auto: true } }), [
      'sharing.text',
      'hd.auto',
    ])
    expect(after.sharing).toEqual({ text: 'new', embedWithinSocial: true })
    expect(after.hd).toEqual({ allow: true, auto: true })
  })
  test('keeps the message of an expiry when its time is cleared', () => {
    const after = mergeFields(current, input({ contentExpiry: undefined }), ['content_expiry.expire_time'])
    expect(after.contentExpiry).toEqual({ expireTime: undefined, message: 'gone' })
  })
  test('clears named fields that the message omits', () => {
    const after = mergeFields(current, input({ contentExpiry: undefined, publishedWidth: undefined }), [
      'content_expiry',
      'published_width',
    ])
    expect(after).toMatchObject({ contentExpiry: undefined, publishedWidth: undefined })
  })
  test.each(['video_id', 'organisation_id', 'status', 'creator_id', 'delivery_version', '__proto__', 'constructor', 'sharing.url', ''])(
    'rejects %j',
    (path) => {
      expect(badFields({}, [path])).toEqual(['update_mask'])
    },
  )
})

test('tags are deduplicated in their order', () => {
  expect(mergeFields(current, input({ tags: ['b', 'a', 'b', 'c', 'a'] }), ['tags']).tags).toEqual(['b', 'a', 'c'])
})

test('every invalid field is reported at once, by its proto name', () => {
  const invalid: Partial<VideoFields> = {
    title: '',
    mediaTitle: 'x'.repeat(256),
    description: 'a\0',
    language: 'not a code',
    publishedWidth: 8193,
    publishedHeight: 0,
    tags: ['ok', 'not ok'],
    contentExpiry: { expireTime: new Date(Number.NaN), message: 'x'.repeat(1_001) },
    sharing: { text: '\ud800', embedWithinSocial: true },
    location: { country: '', city: '', postcode: 'x'.repeat(21), latitude: 90.1, longitude: Number.NaN },
    javascriptApiJson: '[1]',
    monetizationJson: '{',
    settingId: 'x',
    allowedIps: ['192.0.2.1', '192.0.2.300'],
  }
  const mask = [
    ...['title', 'media_title', 'description', 'language', 'published_width', 'published_height', 'tags', 'content_expiry', 'sharing.text'],
    ...['location', 'javascript_api_json', 'monetization_json', 'setting_id', 'allowed_ips'],
  ]
  expect(badFields(invalid, mask)).toEqual([
    'title',
    'media_title',
    'description',
    'language',
    'published_width',
    'published_height',
    'tags[1]',
    'content_expiry.expire_time',
    'content_expiry.message',
    'sharing.text',
    'location.postcode',
    'location.latitude',
    'location.longitude',
    'javascript_api_json',
    'monetization_json',
    'setting_id',
    'allowed_ips[1]',
  ])
})

test.each([
  ['title', 'title', 255],
  ['description', 'description', 5_000],
  ['descriptionPrivate', 'description_private', 5_000],
  ['category', 'category', 100],
  ['ageRating', 'age_rating', 20],
] as const)('%s has a maximum number of characters', (key, path, max) => {
  expect(badFields({ [key]: 'é'.repeat(max) }, [path])).toEqual([])
  expect(badFields({ [key]: 'é'.repeat(max + 1) }, [path])).toHaveLength(1)
})

test.each([
  ['100 tags', { tags: Array.from({ length: 100 }, (_, i) => `t${i}`) }, 0],
  ['101 tags', { tags: Array.from({ length: 101 }, (_, i) => `t${i}`) }, 1],
  ['a tag of 100 characters', { tags: ['x'.repeat(100)] }, 0],
  ['a tag of 101 characters', { tags: ['x'.repeat(101)] }, 1],
  ['a tag with a wide space', { tags: ['a\u2003b'] }, 1],
])('validates %s', (_, fields, problems) => {
  expect(badFields(fields, ['tags'])).toHaveLength(problems)
})
