import { type CmcdData, decodeCmcd, validateCmcd } from '@svta/cml-cmcd'
import { PlayerState, type SessionEvent, SessionEventType } from '@vitascope/proto/analytics/v1/view_session'
import { firstCharacters } from '@vitascope/request'

/** A line of a CMCD report. `event` is undefined if the line is valid and has nothing that is recorded in a session. */
export interface CmcdLine {
  videoId: string
  viewId: string
  atMs: number
  event: SessionEvent | undefined
}

/** Custom event and keys of this platform. CMCD has no key for the height of a picture. */
const SWITCH_EVENT = 'rendition-switch'
const FROM_HEIGHT = 'com.vitascope-from'
const TO_HEIGHT = 'com.vitascope-to'
/** Playback position in seconds, which hls.js does not report in `pt`. */
const POSITION = 'com.vitascope-position'

const STATES: Readonly<Record<string, PlayerState>> = {
  s: PlayerState.PLAYER_STATE_STARTING,
  p: PlayerState.PLAYER_STATE_PLAYING,
  k: PlayerState.PLAYER_STATE_SEEKING,
  r: PlayerState.PLAYER_STATE_REBUFFERING,
  a: PlayerState.PLAYER_STATE_PAUSED,
  w: PlayerState.PLAYER_STATE_WAITING,
  e: PlayerState.PLAYER_STATE_ENDED,
  f: PlayerState.PLAYER_STATE_FATAL_ERROR,
  q: PlayerState.PLAYER_STATE_QUIT,
  d: PlayerState.PLAYER_STATE_PRELOADING,
}
const MAX_CODE_LENGTH = 100
/** Maximum number of problems in a message. */
const MAX_PROBLEMS = 3

/**
 * Parses a line of an event-mode report of CMCD version 2 (CTA-5004-B). Returns the reason as a text
 * if it is invalid, or if it does not name its session and its video.
 */
export function parseCmcdLine(line: string): CmcdLine | string {
  const data = decodeLine(line)
  if (data === undefined) return 'line: must be a structured field dictionary, such as e=ps,sta=p,ts=1893456000000,v=2'
  if (data['v'] !== 2) return 'v: must be 2'
  const problems = validateCmcd(data, { version: 2, reportingMode: 'event' }).issues.filter(({ severity }) => severity === 'error')
  if (problems.length > 0) {
    const shown = problems.slice(0, MAX_PROBLEMS).map(({ key, message }) => (key === undefined ? message : `${key}: ${message}`))
    return shown.join('; ')
  }
  const { sid, cid, ts } = data
  if (typeof sid !== 'string') return 'sid: is required, the UUID of the view'
  if (typeof cid !== 'string' || cid === '') return 'cid: is required, the id of the video'
  return { videoId: cid, viewId: sid, atMs: Number(ts), event: toSessionEvent(data) }
}

function decodeLine(line: string): Record<string, unknown> | undefined {
  try {
    const data: CmcdData = decodeCmcd(line)
    return { ...data }
  } catch {
    // The library throws for any text that is not a dictionary.
    return undefined
  }
}

function toSessionEvent(data: Record<string, unknown>): SessionEvent | undefined {
  const startupMs = typeof data['msd'] === 'number' ? data['msd'] : undefined
  const common = { atMs: Number(data['ts']), positionSeconds: readPosition(data), startupMs }
  const none = { state: PlayerState.PLAYER_STATE_UNSPECIFIED, renditionSwitch: undefined, errorCode: '' }
  const state = STATES[String(data['sta'])]
  const renditionSwitch = readSwitch(data)
  const errorCode = readErrorCode(data['ec'])
  if (data['e'] === 'ps' && state !== undefined) return { ...common, ...none, type: SessionEventType.SESSION_EVENT_TYPE_STATE, state }
  if (renditionSwitch) return { ...common, ...none, type: SessionEventType.SESSION_EVENT_TYPE_SWITCH, renditionSwitch }
  if (data['e'] === 'e' && errorCode !== '') return { ...common, ...none, type: SessionEventType.SESSION_EVENT_TYPE_ERROR, errorCode }
  return startupMs === undefined ? undefined : { ...common, ...none, type: SessionEventType.SESSION_EVENT_TYPE_STARTUP }
}

function readPosition(data: Record<string, unknown>): number | undefined {
  if (typeof data['pt'] === 'number') return data['pt'] / 1_000
  return readNumber(data[POSITION])
}

/** Returns the switch of the custom event, or that of a change of the bit rate. */
function readSwitch(data: Record<string, unknown>): SessionEvent['renditionSwitch'] {
  if (data['e'] === 'ce' && data['cen'] === SWITCH_EVENT) {
    const toHeight = readNumber(data[TO_HEIGHT])
    return toHeight ? { fromHeight: readNumber(data[FROM_HEIGHT]) ?? 0, toHeight, fromKbps: 0, toKbps: 0 } : undefined
  }
  if (data['e'] !== 'bc') return undefined
  const rates = Array.isArray(data['br']) ? data['br'].map(readRate) : []
  const toKbps = Math.round(Math.max(0, ...rates))
  return toKbps > 0 ? { fromHeight: 0, toHeight: 0, fromKbps: 0, toKbps } : undefined
}

/** Returns the kbit/s of an item of `br`, or 0 if it is not a number. An item with an object type is an object with a `value`. */
function readRate(item: unknown): number {
  const rate: unknown = typeof item === 'object' && item !== null && 'value' in item ? item.value : item
  return typeof rate === 'number' ? rate : 0
}

function readErrorCode(codes: unknown): string {
  return Array.isArray(codes) ? firstCharacters(codes.map(String).join(', '), MAX_CODE_LENGTH) : ''
}

/** Values of custom keys are texts. */
function readNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}(\.\d{1,6})?$/.test(value) ? Number(value) : undefined
}
