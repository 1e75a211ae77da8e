import { type FieldError, requireValid } from '@vitascope/errors'
import { EVENT_TYPES, type EventType, isEventType } from '@vitascope/proto/event-types'
import { isId } from '@vitascope/request'

/** An event of this service. The ids in `data` are strings, and `data` contains no secrets. */
export interface NewEvent {
  type: EventType
  organisationId: string
  /** Events with the same key are delivered in order. For example `media:12`. */
  objectKey: string
  data: Readonly<Record<string, string | number | boolean>>
}

/** An event that another service reports. */
export interface ServiceEvent {
  eventId: string
  type: string
  organisationId: string
  objectKey: string
  dataJson: string
}

const MAX_DATA_CHARACTERS = 4_096

/** Returns the event. Throws `invalid` with every invalid field. */
export function checkServiceEvent(event: ServiceEvent): ServiceEvent {
  const problems: FieldError[] = []
  const addProblem = (field: string, message: string) => problems.push({ field, message })
  if (!/^[\w-]{1,100}$/.test(event.eventId)) addProblem('event_id', 'must be 1 to 100 characters of A-Z, a-z, 0-9, _ and -')
  if (!isEventType(event.type)) addProblem('type', `must be one of: ${EVENT_TYPES.join(', ')}`)
  if (!isId(event.organisationId)) addProblem('organisation_id', 'must be an id')
  if (!/^[\x21-\x7e]{1,100}$/.test(event.objectKey)) addProblem('object_key', 'must be 1 to 100 ASCII characters without spaces')
  if (!isSmallObject(event.dataJson)) addProblem('data_json', `must be a JSON object of at most ${MAX_DATA_CHARACTERS} characters`)
  requireValid(problems)
  return event
}

function isSmallObject(text: string): boolean {
  // PostgreSQL cannot store NUL or a lone surrogate. All escaped surrogates are rejected.
  if (text.length > MAX_DATA_CHARACTERS || /\\u(0000|[dD][89a-fA-F])/.test(text)) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
