import type {
  ReceivedSessionEvent as ReceivedMessage,
  SessionEvent as SessionEventMessage,
  SessionEventType,
} from '@vitascope/proto/analytics/v1/view_session'
import { PlayerState } from '@vitascope/proto/analytics/v1/view_session'
import { isStorable } from '@vitascope/request'
import { findPositionFault, findTimeFault, findViewIdFault, isWithin, type Rejection, toMs } from '../event/event.ts'
import { buildSessionEvent, SESSION_EVENT_TYPE, type StoredSessionEvent } from '../view/session-event-store.ts'

/** The player states in the order of their numbers, which the database stores. */
export const PLAYER_STATES: readonly PlayerState[] = [
  PlayerState.PLAYER_STATE_UNSPECIFIED,
  PlayerState.PLAYER_STATE_STARTING,
  PlayerState.PLAYER_STATE_PLAYING,
  PlayerState.PLAYER_STATE_SEEKING,
  PlayerState.PLAYER_STATE_REBUFFERING,
  PlayerState.PLAYER_STATE_PAUSED,
  PlayerState.PLAYER_STATE_ENDED,
  PlayerState.PLAYER_STATE_FATAL_ERROR,
  PlayerState.PLAYER_STATE_QUIT,
  PlayerState.PLAYER_STATE_PRELOADING,
  PlayerState.PLAYER_STATE_WAITING,
]

const TYPE_NUMBERS: Readonly<Record<string, number>> = {
  SESSION_EVENT_TYPE_STATE: SESSION_EVENT_TYPE.state,
  SESSION_EVENT_TYPE_SWITCH: SESSION_EVENT_TYPE.switch,
  SESSION_EVENT_TYPE_ERROR: SESSION_EVENT_TYPE.error,
  SESSION_EVENT_TYPE_STARTUP: SESSION_EVENT_TYPE.startup,
} satisfies Partial<Record<SessionEventType, number>>

const MAX_STARTUP_MS = 3_600_000
const MAX_HEIGHT = 65_535
const MAX_KBPS = 10_000_000
const MAX_CODE_LENGTH = 100

/** Returns the fault of a session event that arrives at `nowMs`, or undefined. It does not check the video. */
export function findSessionFault({ viewId, event }: ReceivedMessage, nowMs: number): Rejection | undefined {
  if (!event) return { reason: 'bad_type', message: 'event: is required' }
  return (
    findViewIdFault(viewId) ??
    findTimeFault(event.atMs, nowMs) ??
    findPositionFault(event.positionSeconds) ??
    findStartupFault(event.startupMs) ??
    findDetailFault(event)
  )
}

function findStartupFault(startupMs: number | undefined): Rejection | undefined {
  if (startupMs === undefined || isWithin(startupMs, MAX_STARTUP_MS)) return undefined
  return { reason: 'bad_quality', message: 'startup_ms: must be 0 to 3,600,000' }
}

function findDetailFault({ type, state, renditionSwitch, errorCode, startupMs }: SessionEventMessage): Rejection | undefined {
  switch (TYPE_NUMBERS[type]) {
    case SESSION_EVENT_TYPE.state:
      return PLAYER_STATES.indexOf(state) > 0 ? undefined : { reason: 'bad_type', message: 'state: is not a state of a player' }
    case SESSION_EVENT_TYPE.switch: {
      const { fromHeight = 0, toHeight = 0, toKbps = 0 } = renditionSwitch ?? {}
      const isValid = isWithin(fromHeight, MAX_HEIGHT) && isWithin(toHeight, MAX_HEIGHT) && isWithin(toKbps, MAX_KBPS)
      if (isValid && toHeight + toKbps > 0) return undefined
      return { reason: 'bad_quality', message: 'rendition_switch: must have a height up to 65,535 or a bit rate up to 10,000,000 kbit/s' }
    }
    case SESSION_EVENT_TYPE.error:
      if (errorCode !== '' && errorCode.length <= MAX_CODE_LENGTH && isStorable(errorCode)) return undefined
      return { reason: 'bad_quality', message: 'error_code: must be a text of 1 to 100 characters' }
    case SESSION_EVENT_TYPE.startup:
      return startupMs === undefined ? { reason: 'bad_quality', message: 'startup_ms: is required' } : undefined
    default:
      return { reason: 'bad_type', message: 'type: must be a state, a switch, an error or the startup time' }
  }
}

/** Returns the event to store. Times are rounded to milliseconds. */
export function toStoredSessionEvent(
  { videoId, viewId }: Pick<ReceivedMessage, 'videoId' | 'viewId'>,
  event: SessionEventMessage,
  organisationId: string,
): StoredSessionEvent {
  const type = TYPE_NUMBERS[event.type] ?? 0
  const { fromHeight, toHeight, toKbps } = event.renditionSwitch ?? {}
  return {
    ...{ videoId, viewId: viewId.toLowerCase(), organisationId },
    ...buildSessionEvent({
      type,
      atMs: Math.trunc(event.atMs),
      positionMs: event.positionSeconds === undefined ? undefined : toMs(event.positionSeconds),
      startupMs: event.startupMs === undefined ? undefined : Math.round(event.startupMs),
      ...(type === SESSION_EVENT_TYPE.state && { state: PLAYER_STATES.indexOf(event.state) }),
      ...(type === SESSION_EVENT_TYPE.error && { errorCode: event.errorCode }),
      // A value that is unknown is 0 in messages and null in the database.
      ...(type === SESSION_EVENT_TYPE.switch && {
        fromHeight: fromHeight || undefined,
        toHeight: toHeight || undefined,
        toKbps: toKbps || undefined,
      }),
    }),
  }
}
