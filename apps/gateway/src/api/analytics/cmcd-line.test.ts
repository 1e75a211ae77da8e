import { describe, expect, test } from '@jest/globals'
import { type Cmcd, encodeCmcd, toCmcdValue } from '@svta/cml-cmcd'
import { parseCmcdLine } from './cmcd-line.ts'

const VIEW = '7d444840-9dc0-41d1-b245-5ffdce74fad2'
const TS = 1_893_456_000_000
const encode = (data: Record<string, unknown>) =>
  // The types of the library do not allow the custom keys of this platform.
  encodeCmcd({ v: 2, sid: VIEW, cid: '42', ts: TS, ...data } as Cmcd, { version: 2, reportingMode: 'event' })
const parse = (data: Record<string, unknown>) => parseCmcdLine(encode(data))
const line = (rest: string) => `cid="42",sid="${VIEW}",ts=${TS},v=2${rest}`

test.each([
  ['s', 'STARTING'],
  ['p', 'PLAYING'],
  ['k', 'SEEKING'],
  ['r', 'REBUFFERING'],
  ['a', 'PAUSED'],
  ['w', 'WAITING'],
  ['e', 'ENDED'],
  ['f', 'FATAL_ERROR'],
  ['q', 'QUIT'],
  ['d', 'PRELOADING'],
])('the play state %s is %s', (sta, state) => {
  expect(parse({ e: 'ps', sta, pt: 12_500 })).toEqual({
    ...{ videoId: '42', viewId: VIEW, atMs: TS },
    event: {
      ...{ type: 'SESSION_EVENT_TYPE_STATE', atMs: TS, positionSeconds: 12.5, state: `PLAYER_STATE_${state}` },
      ...{ renditionSwitch: undefined, errorCode: '', startupMs: undefined },
    },
  })
})

describe('an event', () => {
  test.each<[string, Record<string, unknown>, object | undefined]>([
    [
      'with heights of the player of the platform is a switch',
      { e: 'ce', cen: 'rendition-switch', 'com.vitascope-from': '360', 'com.vitascope-to': '720', 'com.vitascope-position': '4.25' },
      {
        type: 'SESSION_EVENT_TYPE_SWITCH',
        positionSeconds: 4.25,
        renditionSwitch: { fromHeight: 360, toHeight: 720, fromKbps: 0, toKbps: 0 },
      },
    ],
    [
      'of a bit rate is a switch',
      { e: 'bc', br: [1_200] },
      { type: 'SESSION_EVENT_TYPE_SWITCH', renditionSwitch: { fromHeight: 0, toHeight: 0, fromKbps: 0, toKbps: 1_200 } },
    ],
    [
      'of the bit rates of two objects has that of the picture',
      { e: 'bc', br: [toCmcdValue(2_500, { v: true }), toCmcdValue(128, { a: true })] },
      { renditionSwitch: { fromHeight: 0, toHeight: 0, fromKbps: 0, toKbps: 2_500 } },
    ],
    [
      'with error codes is an error',
      { e: 'e', ec: ['fragLoadError', '7'] },
      { type: 'SESSION_EVENT_TYPE_ERROR', errorCode: 'fragLoadError, 7' },
    ],
    ['with a long code has its beginning', { e: 'e', ec: ['x'.repeat(300)] }, { errorCode: 'x'.repeat(100) }],
    ['of a state can have the startup time', { e: 'ps', sta: 'p', msd: 310 }, { type: 'SESSION_EVENT_TYPE_STATE', startupMs: 310 }],
    ['of another type can have the startup time', { e: 't', msd: 310 }, { type: 'SESSION_EVENT_TYPE_STARTUP', startupMs: 310 }],
    ['of another type is not stored', { e: 'm' }, undefined],
    ['with another name is not stored', { e: 'ce', cen: 'like' }, undefined],
    ['with invalid heights is not stored', { e: 'ce', cen: 'rendition-switch', 'com.vitascope-to': '1e9' }, undefined],
  ])('%s', (_, data, event) => {
    const parsed = parse(data)
    expect(parsed).toMatchObject({ videoId: '42', viewId: VIEW, atMs: TS })
    expect(typeof parsed === 'string' ? parsed : parsed.event).toEqual(event === undefined ? undefined : expect.objectContaining(event))
  })
})

test.each([
  ['line: must be a structured field dictionary', '{"e":"ps"}'],
  ['line: must be a structured field dictionary', 'e=ps,sta="p'],
  ['line: must be a structured field dictionary', '__proto__=1'],
  ['v: must be 2', `cid="42",e=ps,sid="${VIEW}",sta=p,ts=${TS}`],
  ['v: must be 2', 'v=1,bl=1000'],
  ['e: Event mode requires', line(',sta=p')],
  ['e: Key "e" has invalid token', line(',e=zz')],
  ['sta: Key "sta" has invalid token', line(',e=ps,sta=zz')],
  ['sta: State-change event', line(',e=ps')],
  ['ec: Error event', line(',e=e')],
  ['ts: Event mode requires', `cid="42",sid="${VIEW}",v=2,e=ps,sta=p`],
  ['ts: Key "ts" must be', `cid="42",sid="${VIEW}",v=2,e=ps,sta=p,ts=1.5`],
  ['foo: Unknown CMCD key', line(',e=ps,sta=p,foo')],
  ['constructor: Unknown CMCD key', line(',e=ps,sta=p,constructor=1')],
  ['sid: is required', `cid="42",ts=${TS},v=2,e=ps,sta=p`],
  ['cid: is required', `sid="${VIEW}",ts=${TS},v=2,e=ps,sta=p`],
])('a line is rejected with “%s”', (message, text) => {
  expect(parseCmcdLine(text)).toEqual(expect.stringContaining(message))
})
