import { expect, test } from '@jest/globals'
import { formatVtt, parseVtt } from './web-vtt.ts'

test('WebVTT keeps times, settings and texts, and drops other blocks', () => {
  const content =
    'WEBVTT\r\n\r\nNOTE a note\r\n\r\n1\r\n00:00:01.000 --> 00:00:02.500 align:start\r\nGood\r\nevening\r\n\r\n00:03.000 --> 00:04.000\r\n<b>Now</b>\r\n'
  const cues = parseVtt(content)
  expect(cues).toEqual([
    { start: '00:00:01.000', end: '00:00:02.500', settings: 'align:start', text: 'Good\nevening' },
    { start: '00:03.000', end: '00:04.000', settings: '', text: '<b>Now</b>' },
  ])
  expect(parseVtt(formatVtt(cues))).toEqual(cues)
  // An empty line would end the cue.
  expect(parseVtt(formatVtt([{ start: '00:01.000', end: '00:02.000', settings: '', text: 'a\n\n\nb' }]))[0]?.text).toBe('a\nb')
})
