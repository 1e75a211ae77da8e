import { describe, expect, test } from '@jest/globals'
import { settingChanges, settingUpdate } from './setting-changes.ts'

const sha1 = 'b14e9015dae06b5e206c2b37178eac45e193792d'
const update = (sent: object) => settingUpdate('3', settingChanges.parse(sent))
const badFields = (sent: object) =>
  (settingChanges.safeParse(sent).error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.')],
  )

test('the update mask names the sent fields as the catalogue does', () => {
  const { setting, mask } = update({ title: '', show_controls: '0', highest_quality_version: '6000', monetization_id: '' })
  expect(mask.toSorted()).toEqual(['highest_quality_version', 'monetization_id', 'show_controls', 'title'])
  expect(setting).toMatchObject({ settingId: '3', title: '', showControls: false, highestQualityVersion: 6_000, monetizationId: undefined })
})

test.each([
  ['an object', { pre: ['1', 2], post: [], show_timer: 1 }],
  ['JSON text', '{"pre":["1",2],"post":[],"show_timer":true}'],
])('accepts rolls as %s', (_, rolls) => {
  expect(update({ rolls }).setting.rolls).toBe('{"pre":["1","2"],"post":[],"show_timer":true}')
})

test.each([[{ rolls: '' }], [{ rolls: null }]])('%j removes the rolls', (sent) => {
  expect(update(sent)).toMatchObject({ setting: { rolls: '' }, mask: ['rolls'] })
})

describe('validation', () => {
  test.each<[string, unknown, unknown]>([
    ['title', 'x'.repeat(50), 'x'.repeat(51)],
    ['lowest_quality_version', 100, 99],
    ['highest_quality_version', '6000', '6001'],
    ['ga_library', 'universal', 'Legacy'],
    ['password', sha1, sha1.toUpperCase()],
    ['password', '', `${sha1}0`],
    ['password', sha1, sha1.slice(1)],
    ['password', sha1, 'correct horse'],
    ['password', sha1, `${sha1.slice(0, 39)}\n`],
    ['allow_download', '1', 2],
    ['monetization', '{"a":1}', '[1]'],
    ['monetization_id', '9007199254740991', '9007199254740992'],
    ['max_sessions', '100000', '100001'],
    ['max_sessions', '1', '0'],
    ['rolls', { pre: Array(100).fill('1') }, 'x'],
  ])('%s: accepts %j, rejects %j', (name, good, bad) => {
    expect(badFields({ [name]: good })).toEqual([])
    expect(badFields({ [name]: bad })).toEqual([name])
  })

  test.each([
    ...['id', 'settings_id', 'organisation_id', 'created_by_user_id', 'last_modified_by_user_id', 'time_created', 'time_last_modified'],
    ...[
      'players',
      'pre_roll_asset_id',
      'post_roll_asset_id',
      'pre_roll_id',
      'pre_roll_quality',
      'password_hash',
      '__proto__',
      'constructor',
    ],
  ])('rejects %s, which is read-only or unknown', (name) => {
    expect(badFields(JSON.parse(`{"${name}": "1"}`))).toEqual([name])
  })

  test('reports every invalid field at once', () => {
    const bad = { title: 1, rolls: { mid: [] }, is_auto_play: 'yes', colour: 'red' }
    expect(badFields(bad).toSorted()).toEqual(['colour', 'is_auto_play', 'mid', 'title'])
  })
})
