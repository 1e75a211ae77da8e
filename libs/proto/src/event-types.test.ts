import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { EVENT_TYPES } from './event-types.ts'

test('the guide to webhooks describes every event type and no other', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/receive-webhooks.md'), 'utf8')
  const table = /^\| type \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(guide)?.[1] ?? ''
  const described = table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, type]) => type))
  expect(described.toSorted()).toEqual(EVENT_TYPES.toSorted())
})
