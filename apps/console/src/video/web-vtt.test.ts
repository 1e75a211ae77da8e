import { expect, test } from '@jest/globals'
import { formatVtt, hasValidTimes, nextCue, parseVtt, toCueTime } from './web-vtt.ts'

test('WebVTT keeps times, settings and texts, and drops other blocks', () => {
  const content =
    'WEBVTT\r\n\r\nNOTE a note\r\n\r\n1\r\n00:00:01.000 --> 00:00:02.500 align:start\r\nGood\r\nevening\r\n\r\n00:03.000 --> 00:04.000\r\n<b>Now</b>\r\n'
  const cues = parseVtt(content)
  expect(cues).toEqual([
    { start: '00:00:01.000', end: '00:00:02.500', settings: 'align:start', text: 'Good\nevening' },
    { start: '00:03.000', end: '00:04.000', settings: '', text: '<b>Now</b>' },
  ])
  const long = (time: string) => (time.length === 9 ? `00:${time}` : time)
  expect(parseVtt(formatVtt(cues))).toEqual(cues.map((cue) => ({ ...cue, start: long(cue.start), end: long(cue.end) })))
  // An empty line would end the cue.
  expect(parseVtt(formatVtt([{ start: '00:01.000', end: '00:02.000', settings: '', text: 'a\n\n\nb' }]))[0]?.text).toBe('a\nb')
})

test.each([
  ['1:30', '00:01:30.000'],
  ['0:01', '00:00:01.000'],
  [' 12:34:56,7 ', '12:34:56.700'],
  ['00:00:01.000', '00:00:01.000'],
])('the time %j is stored as %s', (text, time) => {
  expect(toCueTime(text)).toBe(time)
})

test.each(['', 'nonsense', '90', '1:60', '1:2:3:4', '100:00:00'])('%j is not a time', (text) => {
  expect(toCueTime(text)).toBeUndefined()
})

test.each([
  ['0:01', '1:00', true],
  ['1:00', '0:59.9', false],
  ['1:00', '01:00.000', false],
  ['0:01', 'later', false],
])('a cue from %s to %s has valid times: %j', (start, end, isValid) => {
  expect(hasValidTimes({ start, end })).toBe(isValid)
})

test.each([
  ['Q&amp;A', 'Q&A'],
  ['1 &lt; 2 &gt; 0', '1 < 2 > 0'],
  ['<i>now</i>', '<i>now</i>'],
  ['<v Ann>now', '<v Ann>now'],
  ['&lt;i&gt; makes text italic', '&lt;i> makes text italic'],
  ['an arrow --&gt; is no time', 'an arrow --> is no time'],
  ['&amp;lt; is a reference', '&amp;lt; is a reference'],
])('the text %s of a file is edited as %s', (stored, edited) => {
  const cues = parseVtt(`WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${stored}\n`)
  expect(cues[0]?.text).toBe(edited)
  expect(formatVtt(cues)).toContain(`\n${stored.replaceAll(/(?<!--)&gt;/g, '>')}\n`)
})

test('a new cue follows another one', () => {
  const cue = { start: '0:01', end: '00:59:59.5', settings: 'align:start', text: 'one' }
  expect(nextCue(cue)).toEqual({ start: '00:59:59.500', end: '01:00:01.500', settings: '', text: '' })
  expect(nextCue(cue, { ...cue, start: '1:00:00' })).toMatchObject({ start: '00:59:59.500', end: '01:00:00.000' })
  expect(nextCue(cue, { ...cue, start: '0:01' })).toMatchObject({ end: '01:00:01.500' })
  expect(nextCue({ ...cue, end: 'later' })).toMatchObject({ start: '00:00:00.000', end: '00:00:02.000' })
})
