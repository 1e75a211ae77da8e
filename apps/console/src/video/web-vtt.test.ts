import { expect, test } from '@jest/globals'
import { formatVtt, hasValidTimes, parseVtt, toCueTime } from './web-vtt.ts'

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
