import { expect, test } from '@jest/globals'
import { publicVideoNames, videoChanges, videoUpdate } from './video-changes.ts'

function update(payload: unknown) {
  return videoUpdate('1', videoChanges.parse(payload))
}

test.each([
  [{ video_title: 'A' }, ['title'], { title: 'A' }],
  [{ enabled: '0' }, ['enabled'], { enabled: false }],
  [{ tags: null }, ['tags'], { tags: [] }],
  [{ published_width: '' }, ['published_width'], { publishedWidth: undefined }],
  [{ language: 'en_GB' }, ['language'], { language: 'en-GB' }],
  [{ language: '' }, ['language'], { language: '' }],
  [{ sharing: { text: 'x' } }, ['sharing.text'], { sharing: { text: 'x', embedWithinSocial: false } }],
  [{ hd: { allow: 1 } }, ['hd.allow'], { hd: { allow: true, auto: false } }],
  [{ content_expiry: null }, ['content_expiry'], { contentExpiry: undefined }],
  [{ content_expiry: { time: null } }, ['content_expiry.expire_time'], { contentExpiry: { expireTime: undefined, message: '' } }],
  [
    { content_expiry: { time: '2030-01-01 00:00:00', message: 'Gone' } },
    ['content_expiry.expire_time', 'content_expiry.message'],
    { contentExpiry: { expireTime: new Date('2030-01-01T00:00:00Z'), message: 'Gone' } },
  ],
  [{ content_expiry: '' }, ['content_expiry'], { contentExpiry: undefined }],
  [{ location: null }, ['location'], { location: undefined }],
  [{ location: '' }, ['location'], { location: undefined }],
  [
    { location: { city: 'Delft', latitude: '52.01' } },
    ['location'],
    { location: { country: '', city: 'Delft', postcode: '', latitude: 52.01, longitude: undefined } },
  ],
  [
    { languages: ['nl', { code: 'en', title: 'Spoken' }] },
    ['languages'],
    {
      languages: [
        { code: 'nl', title: 'Dutch' },
        { code: 'en', title: 'Spoken' },
      ],
    },
  ],
  [{ languages: ['en-u-ca-gregory'] }, ['languages'], { languages: [{ code: 'en-u-ca-gregory', title: 'English' }] }],
  [
    {
      chapters: [
        { title: 'Questions', start: '95.5004' },
        { title: 'Welcome', start: 0 },
      ],
    },
    ['chapters'],
    {
      chapters: [
        { title: 'Questions', startMs: 95_500 },
        { title: 'Welcome', startMs: 0 },
      ],
    },
  ],
  [{ chapters: null }, ['chapters'], { chapters: [] }],
  [{ captions: { show_on_load: 'x'.repeat(255) } }, ['captions_show_on_load'], { captionsShowOnLoad: 'x'.repeat(255) }],
  [{ captions: { show_on_load: '1' } }, ['captions_show_on_load'], { captionsShowOnLoad: '1' }],
  [
    { security: { token_required_platform: 1, allowed_ips: ['192.0.2.0/24'] } },
    ['token_required', 'allowed_ips'],
    { tokenRequired: true, allowedIps: ['192.0.2.0/24'] },
  ],
  [{ monetization: '{"a": 1}' }, ['monetization_json'], { monetizationJson: '{"a":1}' }],
  [{ javascript_api: null }, ['javascript_api_json'], { javascriptApiJson: '' }],
  [{ setting_id: '' }, ['setting_id'], { settingId: '' }],
  [{ security: {} }, [], {}],
])('%j sets the update mask %j', (payload, mask, values) => {
  const { video, updateMask } = update(payload)
  expect(updateMask).toEqual(mask)
  expect(video).toMatchObject(values)
})

test('reports every invalid field at once', () => {
  const payload = { video_title: '', enabled: 2, tags: ['two words'], hd: { allow: 'x', depth: 1 }, creator_id: '1', status: 'ok' }
  const names = videoChanges
    .safeParse(payload)
    .error?.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key].join('.')) : issue.path.join('.'),
    )
  expect(names?.sort()).toEqual(['creator_id', 'enabled', 'hd.allow', 'hd.depth', 'status', 'tags.0', 'video_title'])
})

test('field errors of the catalogue are mapped to the public names', () => {
  expect(publicVideoNames).toMatchObject({
    title: 'video_title',
    'content_expiry.expire_time': 'content_expiry.time',
    allowed_ips: 'security.allowed_ips',
  })
})

test('rejects chapters with the same start, and reports every invalid one', () => {
  const chapters = [{ title: 'a', start: 1.0001 }, { title: '', start: -1 }, { title: 'b', start: 1 }, { title: 'c' }]
  const issues = videoChanges.safeParse({ chapters }).error?.issues ?? []
  expect(issues.map(({ path }) => path.join('.')).sort()).toEqual([
    'chapters.1.start',
    'chapters.1.title',
    'chapters.2.start',
    'chapters.3.start',
  ])
})

test('rejects a repeated language', () => {
  const issues = videoChanges.safeParse({ languages: ['nl', 'en', { code: 'nl' }, 7], video_title: '' }).error?.issues ?? []
  expect(issues.map(({ path }) => path.join('.')).sort()).toEqual(['languages.2.code', 'languages.3', 'video_title'])
})
