import { PlayerState, type SessionEvent, SessionEventType, type ViewSession } from '@vitascope/proto/analytics/v1/view_session'
import { z } from 'zod'
import { required, schema } from '../../server/schema/response-format.ts'

const STATES: Readonly<Partial<Record<PlayerState, string>>> = {
  [PlayerState.PLAYER_STATE_STARTING]: 'starting',
  [PlayerState.PLAYER_STATE_PLAYING]: 'playing',
  [PlayerState.PLAYER_STATE_SEEKING]: 'seeking',
  [PlayerState.PLAYER_STATE_PAUSED]: 'paused',
  [PlayerState.PLAYER_STATE_ENDED]: 'ended',
  [PlayerState.PLAYER_STATE_FATAL_ERROR]: 'fatal_error',
  [PlayerState.PLAYER_STATE_QUIT]: 'quit',
  [PlayerState.PLAYER_STATE_PRELOADING]: 'preloading',
  [PlayerState.PLAYER_STATE_WAITING]: 'waiting',
}
const TYPES: Readonly<Partial<Record<SessionEventType, string>>> = {
  [SessionEventType.SESSION_EVENT_TYPE_STATE]: 'state',
  [SessionEventType.SESSION_EVENT_TYPE_SWITCH]: 'switch',
  [SessionEventType.SESSION_EVENT_TYPE_ERROR]: 'error',
  [SessionEventType.SESSION_EVENT_TYPE_STARTUP]: 'startup',
  [SessionEventType.SESSION_EVENT_TYPE_STALL]: 'stall',
}

const nullableNumber = (description: string, example: number) => z.number().nullable().meta({ description, example })
const NULL_IF_UNKNOWN = 'Null if it is unknown.'
/** Fields of a view session: the summary of one playback. */
const session = {
  view_id: schema.text('UUID of the view.', '7d444840-9dc0-41d1-b245-5ffdce74fad2'),
  video_id: schema.id('video'),
  organisation_id: schema.id('organisation'),
  start: z.number().meta({
    description: 'Time of the first event in milliseconds since 1970-01-01 00:00 UTC, by the clock of the player.',
    example: 1_893_456_000_000,
  }),
  startup_ms: nullableNumber(`Milliseconds from the request to play to the first frame. ${NULL_IF_UNKNOWN}`, 310),
  stalls: schema.int('Number of stalls.', 1),
  stalled_ms: z.number().meta({ description: 'Stalled time in milliseconds.', example: 1_500 }),
  switches: schema.int('Number of rendition switches.', 2),
  has_error: schema.bool('True if an error was reported.'),
}
const optionalInt = (description: string, example: number) => z.int().optional().meta({ description, example })

export const SessionResponse = z.object(session)
export const SessionDetailResponse = z.object({
  ...session,
  events: z
    .array(
      z.object({
        type: schema.text('`state`, `stall`, `switch`, `error` or `startup`.', 'switch'),
        at: z.number().meta({
          description: 'Time in milliseconds since 1970-01-01 00:00 UTC, by the clock of the player.',
          example: 1_893_456_004_000,
        }),
        position: nullableNumber(`Playback position in seconds. ${NULL_IF_UNKNOWN}`, 4.2),
        state: z.string().optional().meta({
          description:
            'In events of type `state`: `starting`, `playing`, `seeking`, `paused`, `ended`, `fatal_error`, `quit`, `preloading` or `waiting`.',
          example: 'playing',
        }),
        stalled_ms: z
          .number()
          .nullable()
          .optional()
          .meta({ description: `In stalls: length in milliseconds. Null if its end is unknown.`, example: 1_500 }),
        from_height: optionalInt('In switches: height of the picture before the switch in pixels. 0 if it is unknown.', 360),
        to_height: optionalInt('In switches: height of the picture after the switch in pixels. 0 if it is unknown.', 720),
        from_kbps: optionalInt('In switches: bit rate before the switch in kbit/s. 0 if it is unknown.', 0),
        to_kbps: optionalInt('In switches: bit rate after the switch in kbit/s. 0 if it is unknown.', 0),
        code: z.string().optional().meta({ description: 'In errors: code of the player.', example: 'fragLoadError' }),
        startup_ms: z
          .number()
          .optional()
          .meta({ description: 'Startup time in milliseconds, if it was reported with the event.', example: 310 }),
      }),
    )
    .meta({ description: 'Events of the view, oldest first. At most 500.' }),
})

/** Returns the summary of a session. Throws if `view` is undefined. */
export function sessionResponse(view: ViewSession | undefined): z.input<typeof SessionResponse> {
  const { viewId, videoId, organisationId, startMs, startupMs = null, stalls, stalledMs, switches, hasError } = required(view, 'session')
  return {
    ...{ view_id: viewId, video_id: videoId, organisation_id: organisationId, start: startMs },
    ...{ startup_ms: startupMs, stalls, stalled_ms: stalledMs, switches, has_error: hasError },
  }
}

/** Returns an event as in `SessionDetailResponse.events`. Fields that do not apply to it are omitted. */
export function sessionEventResponse(event: SessionEvent) {
  const { type, atMs, positionSeconds = null, state, renditionSwitch, errorCode, startupMs, stalledMs = null } = event
  const stateName = STATES[state]
  return {
    ...{ type: TYPES[type] ?? '', at: atMs, position: positionSeconds },
    ...(stateName !== undefined && { state: stateName }),
    ...(type === SessionEventType.SESSION_EVENT_TYPE_STALL && { stalled_ms: stalledMs }),
    ...(renditionSwitch && {
      ...{ from_height: renditionSwitch.fromHeight, to_height: renditionSwitch.toHeight },
      ...{ from_kbps: renditionSwitch.fromKbps, to_kbps: renditionSwitch.toKbps },
    }),
    ...(errorCode !== '' && { code: errorCode }),
    ...(startupMs !== undefined && { startup_ms: startupMs }),
  }
}
