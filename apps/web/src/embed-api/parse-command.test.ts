import { expect, test } from '@jest/globals'
import { isAllowedOrigin, readDomains } from '../video/embed-api-settings.ts'
import { parseMessage } from './parse-command.ts'

const message = (fields: Record<string, unknown>) => ({ vitascope: 1, id: 7, ...fields })

test.each([
  [{ command: 'play' }, { name: 'play', id: 7 }],
  [
    { command: 'seek', seconds: 0 },
    { name: 'seek', id: 7, seconds: 0 },
  ],
  [
    { command: 'setRate', rate: 2 },
    { name: 'setRate', id: 7, rate: 2 },
  ],
  [
    { command: 'setVolume', volume: 0.5, muted: false },
    { name: 'setVolume', id: 7, volume: 0.5, muted: false },
  ],
  [
    { command: 'setTrack', kind: 'captions', track: null },
    { name: 'setTrack', id: 7, kind: 'captions', track: null },
  ],
  [
    { command: 'load', videoId: '42', autoplay: true },
    { name: 'load', id: 7, videoId: '42', autoplay: true },
  ],
])('parses %j', (fields, command) => {
  expect(parseMessage(message(fields))).toEqual({ kind: 'command', command })
})

test.each([
  [{ command: 'explode' }, 'unknown_command'],
  [{ command: 'toString' }, 'unknown_command'],
  [{ command: 5 }, 'unknown_command'],
  [{ command: 'seek', seconds: -1 }, 'bad_argument'],
  [{ command: 'seek', seconds: '5' }, 'bad_argument'],
  [{ command: 'seek', seconds: Number.NaN }, 'bad_argument'],
  [{ command: 'setRate', rate: 2.5 }, 'bad_argument'],
  [{ command: 'setVolume', volume: 1.1 }, 'bad_argument'],
  [{ command: 'setVolume', volume: 1, muted: 'no' }, 'bad_argument'],
  [{ command: 'setTrack', kind: 'video', track: '1' }, 'bad_argument'],
  [{ command: 'load', videoId: '' }, 'bad_argument'],
  [{ command: 'load', videoId: '1', token: 'x'.repeat(5_000) }, 'bad_argument'],
])('refuses %j', (fields, reason) => {
  expect(parseMessage(message(fields))).toEqual({ kind: 'refused', id: 7, reason })
})

test.each([undefined, null, 'text', 5, [], { vitascope: 2, command: 'play', id: 1 }, { vitascope: 1, type: 'event', event: 'play' }])(
  'ignores messages of other programs: %j',
  (data) => {
    expect(parseMessage(data)).toEqual({ kind: 'other' })
  },
)

test('a message without an id is refused', () => {
  expect(parseMessage({ vitascope: 1, command: 'play' })).toEqual({ kind: 'refused', id: undefined, reason: 'bad_argument' })
})

const own = 'https://video.example.org'
test.each([
  [own, { isEnabled: false, domains: [] }, true],
  ['https://www.example.com', { isEnabled: true, domains: [] }, true],
  ['https://www.example.com', { isEnabled: false, domains: [] }, false],
  ['https://www.example.com', { isEnabled: true, domains: ['example.com'] }, false],
  ['https://www.example.com', { isEnabled: true, domains: ['*.example.com'] }, true],
  ['https://example.com', { isEnabled: true, domains: ['*.example.com'] }, false],
  ['https://evilexample.com', { isEnabled: true, domains: ['*.example.com'] }, false],
  ['null', { isEnabled: true, domains: [] }, false],
])('a page of %s may control the player with %j: %s', (origin, settings, isAllowed) => {
  expect(isAllowedOrigin(origin, own, settings)).toBe(isAllowed)
})

test('domains are separated by commas, spaces or lines, and may be written as URLs', () => {
  expect(readDomains('a.example, HTTPS://B.example/path\n*.c.example:8080;')).toEqual(['a.example', 'b.example', '*.c.example'])
})
