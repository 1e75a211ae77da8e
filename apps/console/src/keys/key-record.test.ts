import { expect, test } from '@jest/globals'
import { groupPermissions, listGrantable, toKeyRecords } from './key-record.ts'

const now = Date.parse('2030-06-15T12:00:00Z')
const facts = (expires: string | null, ...names: string[]) => ({
  ...{ application_name: 'Newsroom', expires, last_used: null },
  resources: Object.fromEntries(names.map((name) => [name, { acl_id: 1, levels: [] }])),
})

test('permissions are grouped by action, and an unknown method is an action', () => {
  expect(groupPermissions(['video::put', 'video::get', 'user::patch', 'video::patch', 'video::merge', 'tag::get'])).toEqual([
    { action: 'read', objects: ['video', 'tag'] },
    { action: 'change', objects: ['video', 'user'] },
    { action: 'merge', objects: ['video'] },
  ])
})

test('a key has everything if it has all permissions that its user may have', () => {
  const accessList = {
    1: { id: 1, levels: ['user' as const, 'admin' as const], resource: 'video::get' },
    2: { id: 2, levels: ['admin' as const], resource: 'user::post' },
  }
  const hasEverything = (userType: 'uploader' | 'standard', ...names: string[]) =>
    toKeyRecords({ vs_1: facts(null, ...names) }, { grantable: listGrantable(accessList, userType), now }).map(
      (record) => record.hasEverything,
    )
  expect(hasEverything('uploader', 'video::get')).toEqual([true])
  expect(hasEverything('standard', 'video::get')).toEqual([false])
  expect(hasEverything('standard', 'video::get', 'user::post')).toEqual([true])
})

test('a key expires at its time, and a key without permissions has no facts', () => {
  const keys = {
    vs_1: facts('2030-06-15 12:00:00 GMT', 'video::get'),
    vs_2: facts('2030-06-15 12:00:01 GMT', 'video::get'),
    vs_3: null,
  }
  const records = toKeyRecords(keys, { grantable: [], now })
  expect(records.map(({ key, name, isExpired }) => [key, name, isExpired])).toEqual([
    ['vs_1', 'Newsroom', true],
    ['vs_2', 'Newsroom', false],
    ['vs_3', '', false],
  ])
  expect(records.map(({ hasFacts }) => hasFacts)).toEqual([true, true, false])
  expect(records[2]?.hasEverything).toBe(false)
})
