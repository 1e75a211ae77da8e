import { expect, test } from '@jest/globals'
import { describeStatement } from './describe-statement.ts'

test.each([
  ['select 1', 'select'],
  ['begin', 'begin'],
  ["begin; set local vitascope.traceparent = '00-a-b-01'", 'begin'],
  ['  select title from video where video_id = $1', 'select video'],
  ['select 1 from webhook where webhook_id = $1 for no key update', 'select webhook'],
  ['select a from work_item for update skip locked', 'select work_item'],
  ['insert into outbox (topic) values ($1) on conflict do update set topic = $1', 'insert outbox'],
  ['with due as (select 1 from webhook_lane for update skip locked)\nupdate webhook_lane l set fence = 1', 'update webhook_lane'],
  ['with a as (select 1 from video) select * from a', 'select video'],
  ['delete from work_item where key = $1', 'delete work_item'],
  ['copy event (a) from stdin', 'copy event'],
])('names the span of %j', (text, name) => {
  expect(describeStatement(text).name).toBe(name)
})

test('has no text of the statement', () => {
  expect(JSON.stringify(describeStatement("select 'secret' from video where title = 'secret'"))).not.toContain('secret')
})
