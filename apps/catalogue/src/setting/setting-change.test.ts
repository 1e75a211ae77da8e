import { describe, expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { DEFAULT_SETTING, SETTING_PATHS, type SettingFields } from './setting.ts'
import { changeSetting, type RequestedSetting } from './setting-change.ts'

const sha1 = 'b14e9015dae06b5e206c2b37178eac45e193792d'
const plain = { ...DEFAULT_SETTING, passwordProtected: false }
const buildRequest = (fields: Partial<RequestedSetting>): RequestedSetting => ({
  ...DEFAULT_SETTING,
  password: '',
  passwordProtected: false,
  ...fields,
})
const findPath = (key: string) => [...SETTING_PATHS].find(([, name]) => name === key)?.[0] ?? key.replace('passwordP', 'password_p')
const change = (fields: Partial<RequestedSetting>, current = plain) =>
  changeSetting(current, buildRequest(fields), Object.keys(fields).map(findPath))

function findInvalidFields(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    if (isDomainError(error)) return error.fields.map(({ field }) => field)
    throw error
  }
  return []
}

test('only the fields of the update mask change', () => {
  const { fields } = changeSetting(plain, buildRequest({ title: 'A', isAutoPlay: true, showControls: false }), ['title', 'show_controls'])
  expect(fields).toMatchObject({ ...DEFAULT_SETTING, title: 'A', showControls: false })
})

test.each<[keyof SettingFields, unknown, unknown]>([
  ['title', 'é'.repeat(50), 'é'.repeat(51)],
  ['title', '', 'a\0'],
  ['lowestQualityVersion', 100, 99],
  ['highestQualityVersion', 6_000, 6_001],
  ['highestQualityVersion', 100, 99],
  ['lowestQualityVersion', 1_200, 1_201],
  ['rolls', '{"pre":["1"],"post":[],"show_timer":true}', '{"pre":[1]}'],
  ['rolls', '{}', '{"mid":[]}'],
  ['rolls', '', '[]'],
  ['rolls', JSON.stringify({ pre: Array(100).fill('1') }), JSON.stringify({ pre: Array(101).fill('1') })],
  ['logoAssetId', 'x'.repeat(100), 'x'.repeat(101)],
  ['logoDestinationUrl', 'https://example.org/?a=b#c', 'javascript:alert(1)'],
  ['logoDestinationUrl', '', '//example.org/'],
  ['logoDestinationUrl', 'http://example.org', 'java\tscript:alert(1)'],
  ['gaTrackerId', 'UA-12345-1', `');alert(1)//`],
  ['gaTrackerDomain', '.example.org', '<script>'],
  ['gaLibrary', 'universal', 'newest'],
  ['monetization', '{"a":[1]}', '"a"'],
  ['monetization', `{"a":"${'x'.repeat(9_992)}"}`, `{"a":"${'x'.repeat(9_993)}"}`],
  ['monetizationId', Number.MAX_SAFE_INTEGER, -1],
  ['monetizationId', undefined, 1.5],
  ['embedWmode', 'transparent', 'a"b'],
  ['javascriptApiAllowedDomains', 'x'.repeat(2_000), 'x'.repeat(2_001)],
])('%s may be %j and not %j', (key, valid, invalid) => {
  expect(change({ [key]: valid }).fields[key]).toEqual(valid)
  expect(findInvalidFields(() => change({ [key]: invalid }))).toEqual([findPath(key)])
})

test('every invalid field is reported at once, including unknown fields', () => {
  const invalid = buildRequest({ title: 'x'.repeat(51), gaLibrary: '', password: 'x', rolls: '3' })
  const mask = ['title', 'ga_library', 'password', 'rolls', 'organisation_id']
  expect(findInvalidFields(() => changeSetting(plain, invalid, mask)).sort()).toEqual([
    'ga_library',
    'password',
    'rolls',
    'title',
    'update_mask',
  ])
})

test('bounds that allow no rendition are rejected at the changed bound', () => {
  expect(findInvalidFields(() => change({ highestQualityVersion: 200 }, { ...plain, lowestQualityVersion: 500 }))).toEqual([
    'highest_quality_version',
  ])
  expect(change({ lowestQualityVersion: 2_000, highestQualityVersion: 2_000 }).fields.lowestQualityVersion).toBe(2_000)
})

describe('the password', () => {
  const protectedSetting = { ...plain, passwordProtected: true }
  test.each([
    ['no password', {}, protectedSetting, { kind: 'keep' }],
    ['an empty password', { password: '' }, protectedSetting, { kind: 'keep' }],
    ['a new password', { password: sha1 }, plain, { kind: 'set', sha1 }],
    ['a new password and protection', { password: sha1, passwordProtected: true }, plain, { kind: 'set', sha1 }],
    ['protection as before', { password: '', passwordProtected: true }, protectedSetting, { kind: 'keep' }],
    ['no protection', { password: '', passwordProtected: false }, protectedSetting, { kind: 'remove' }],
    ['no protection as before', { passwordProtected: false }, plain, { kind: 'remove' }],
  ])('is handled when the request has %s', (_, fields, current, password) => {
    expect(change(fields, current).password).toEqual(password)
  })
  test.each([
    ['a plain password', { password: 'correct horse' }, ['password']],
    ['an upper-case digest', { password: sha1.toUpperCase() }, ['password']],
    ['a digest that is one digit too short', { password: sha1.slice(1) }, ['password']],
    ['a digest that is one digit too long', { password: `${sha1}0` }, ['password']],
    ['protection without a password', { passwordProtected: true }, ['password_protected']],
    ['protection with an empty password', { passwordProtected: true, password: '' }, ['password_protected']],
    ['a password without protection', { passwordProtected: false, password: sha1 }, ['password_protected']],
  ])('is rejected for %s', (_, fields, names) => {
    expect(findInvalidFields(() => change(fields))).toEqual(names)
  })
})
