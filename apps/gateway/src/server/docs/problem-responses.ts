import type { OpenAPIRegistry, RouteConfig } from '@asteasolutions/zod-to-openapi'
import { flatFields } from '../payload/payload-schema.ts'
import type { Access, Route, Verb } from '../route/route.ts'
import { publicName } from '../route/route-index.ts'
import { statusesOfCode } from './code-statuses.ts'
import { GENERAL_CODES, problemDocumentSchema } from './error-docs.ts'

type Responses = RouteConfig['responses']

/** A rejection that any operation, or any operation of a kind, may return. */
interface GeneralError {
  /** Name below `components.responses`. */
  name: string
  description: string
  codes: readonly string[]
}

/**
 * Returns a function that returns the error responses of an operation. A response without codes of
 * its own is a reference to a shared response, which is registered at its first use.
 */
export function problemResponses(registry: OpenAPIRegistry): (route: Route, verb: Verb) => Responses {
  registry.registerComponent('schemas', 'Problem', problemDocumentSchema)
  const shared = new Set<string>()
  return (route, verb) => {
    const errors = Object.entries(operationErrors(route, verb))
    return Object.fromEntries(
      errors.map(([status, error]) => {
        const response = { description: error.description, ...headers(status), ...content(error.codes) }
        // A response to HEAD has no body.
        if (verb === 'head') return [status, { description: error.description, ...headers(status) }]
        if (error.name === undefined) return [status, response]
        if (!shared.has(error.name)) registry.registerComponent('responses', error.name, response)
        shared.add(error.name)
        return [status, { $ref: `#/components/responses/${error.name}` }]
      }),
    )
  }
}

function content(codes: readonly string[]) {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { type: 'object' as const, properties: { code: { type: 'string' as const, enum: [...codes] } } },
    ],
  }
  return { content: { 'application/problem+json': { schema } } }
}

/** Returns the declared headers of an error response. */
function headers(status: string) {
  const retryAfter = { 'Retry-After': { description: 'Seconds after which a retry makes sense.', schema: { type: 'integer' as const } } }
  if (status === '503') return { headers: retryAfter }
  if (status !== '429') return {}
  return {
    headers: {
      ...retryAfter,
      RateLimit: { description: 'Remaining requests and seconds until the limit is reset.', schema: { type: 'string' as const } },
      'RateLimit-Policy': { description: 'Limit and its window.', schema: { type: 'string' as const } },
    },
  }
}

/** An error response without a name is declared in its operation. */
type OperationError = Omit<GeneralError, 'name'> & { name?: string }

/** Returns the error responses of an operation by status: the general ones, with the codes of the route. */
export function operationErrors(route: Route, verb: Verb): Record<string, OperationError> {
  const errors: Record<string, OperationError> = generalErrors(route, verb)
  for (const [status, codes] of Object.entries(ownCodes(route))) {
    const general = errors[status]
    errors[status] = {
      description: DESCRIPTIONS[status] ?? general?.description ?? 'The request was rejected.',
      codes: [...new Set([...(general?.codes ?? []), ...codes])].sort(),
    }
  }
  return errors
}

/** Returns the codes of the route itself by status. */
function ownCodes({ errorCodes }: Route): Record<string, string[]> {
  const byStatus: Record<string, string[]> = {}
  for (const code of Object.keys(errorCodes)) {
    // `organisation_inactive` is 403 for the key of the caller, which is a general code, and 409 for the
    // organisation that an upload names.
    const statuses = statusesOfCode(code)
    const status = statuses.at(-1)
    if (status !== undefined) byStatus[status] = [...(byStatus[status] ?? []), code]
  }
  return byStatus
}

const NO_RECORD = 'A record does not exist, or it belongs to another organisation.'
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  404: NO_RECORD,
  408: 'The body arrived too slowly.',
  409: 'The request conflicts with the current state.',
  410: 'The ticket has expired or was used.',
  412: 'A precondition of the request does not hold.',
  413: 'The request is too large, or a quota is used up.',
  423: 'Another request is using the upload.',
  429: 'There were too many requests, or a limit is reached.',
  460: 'The bytes do not match the checksum.',
}

function generalErrors(route: Route, verb: Verb): Record<string, OperationError> {
  const isWrite = verb !== 'get'
  const notFound = notFoundCodes(route)
  return {
    400: INVALID_REQUEST,
    401: route.access === 'public' ? INVALID_KEY : UNAUTHENTICATED,
    403: FORBIDDEN[route.access],
    ...(notFound.length > 0 && { 404: notFoundError(notFound) }),
    ...(isWrite && { 408: REQUEST_TIMEOUT, 413: PAYLOAD_TOO_LARGE, 415: UNSUPPORTED_MEDIA_TYPE }),
    ...(route.isConditional && { 412: RECORD_CHANGED }),
    ...(verb === 'post' && { 409: REQUEST_RUNNING, 422: KEY_REUSED }),
    429: TOO_MANY_REQUESTS,
    431: HEADERS_TOO_LARGE,
    503: UNAVAILABLE,
  }
}

const RECORD_CHANGED: GeneralError = {
  name: 'RecordChanged',
  description: 'The record has changed since the `ETag` in `If-Match` was returned.',
  codes: ['record_changed'],
}
const INVALID_REQUEST: GeneralError = {
  name: 'InvalidRequest',
  description: 'The payload or a parameter is invalid, or a field is unknown.',
  codes: ['bad_request', 'invalid_input', 'malformed_payload'],
}
const INVALID_KEY: GeneralError = {
  name: 'InvalidKey',
  description: 'The key is invalid.',
  codes: ['key_expired', 'key_malformed', 'key_revoked', 'key_unknown'],
}
const UNAUTHENTICATED: GeneralError = {
  name: 'Unauthenticated',
  description: 'The key is missing or invalid.',
  codes: ['key_expired', 'key_malformed', 'key_required', 'key_revoked', 'key_unknown', 'sign_in_expired'],
}
const KEY_REJECTED = ['foreign_organisation', 'foreign_page', 'missing_resource', 'organisation_inactive']
const FORBIDDEN: Readonly<Record<Access, GeneralError>> = {
  public: { name: 'OrganisationInactive', description: 'The organisation of the key is inactive.', codes: ['organisation_inactive'] },
  user: { name: 'Forbidden', description: 'The key does not have access.', codes: KEY_REJECTED },
  super: {
    name: 'SuperUsersOnly',
    description: 'The key does not have access, or it belongs to a user that is not a super user.',
    codes: [...KEY_REJECTED, 'super_user_only'],
  },
  system: {
    name: 'SystemUsersOnly',
    description: 'The key does not have access, or it does not belong to a system user.',
    codes: [...KEY_REJECTED, 'system_only'],
  },
}
const REQUEST_TIMEOUT: GeneralError = { name: 'RequestTimeout', description: 'The body arrived too slowly.', codes: ['request_timeout'] }
const REQUEST_RUNNING: GeneralError = {
  name: 'RequestRunning',
  description: 'The first request with this idempotency key is still running.',
  codes: ['idempotency_running'],
}
const PAYLOAD_TOO_LARGE: GeneralError = {
  name: 'PayloadTooLarge',
  description: 'The body has more than 1 MiB.',
  codes: ['payload_too_large'],
}
const UNSUPPORTED_MEDIA_TYPE: GeneralError = {
  name: 'UnsupportedMediaType',
  description: 'The content type is not one of the three supported types.',
  codes: ['unsupported_media_type'],
}
const KEY_REUSED: GeneralError = {
  name: 'IdempotencyKeyReused',
  description: 'The idempotency key was used with another payload.',
  codes: ['idempotency_mismatch'],
}
const TOO_MANY_REQUESTS: GeneralError = {
  name: 'TooManyRequests',
  description: 'There were too many requests. The headers `Retry-After`, `RateLimit` and `RateLimit-Policy` describe the limit.',
  codes: ['rate_limited', 'too_many_at_once', 'too_many_changes'],
}
const HEADERS_TOO_LARGE: GeneralError = {
  name: 'HeadersTooLarge',
  description: 'The request line and headers have more than 16 KiB.',
  codes: ['headers_too_large'],
}
const UNAVAILABLE: GeneralError = {
  name: 'Unavailable',
  description: 'A required service is unavailable, or the platform is overloaded. Retry after the time in `Retry-After`.',
  codes: [
    ...['database_busy', 'database_unavailable', 'deadline_exceeded', 'overloaded', 'service_unavailable'],
    ...['storage_busy', 'storage_full', 'storage_unavailable'],
  ],
}

/** A response with one code is shared: `VideoNotFound`. */
function notFoundError(codes: readonly string[]): OperationError {
  const [only] = codes
  const text = codes.length === 1 && only !== undefined ? GENERAL_CODES[only] : undefined
  if (only === undefined || text === undefined) return { description: NO_RECORD, codes }
  return { name: only.split('_').map(capital).join(''), description: text, codes }
}

/**
 * Returns the not-found codes of the records that the path, the query or the payload refers to by
 * id. A `data` parameter is a payload that may refer to any record.
 */
function notFoundCodes(route: Route): string[] {
  const names = [route.params, route.query, flatFields(route)].flatMap((shape) => Object.keys(shape?.shape ?? {}).map(publicName))
  const nouns = names.flatMap((name) => NOUNS[name === 'id' ? `${route.paths[0]?.split('/')[1]}_id` : name] ?? [])
  if (route.verb === 'get' && names.includes('data')) nouns.push('organisation', 'media', 'setting', 'theme')
  return [...new Set(nouns.map((noun) => `${noun}_not_found`))].sort()
}

const NOUNS: Readonly<Record<string, readonly string[]>> = {
  api_key: ['api_key'],
  associated_with_media_id: ['media'],
  caption_id: ['caption'],
  clip_id: ['clip'],
  collaborate_id: ['collaboration'],
  contact_form_id: ['contact_form'],
  delivery_id: ['delivery'],
  email: ['user'],
  embed_id: ['video_or_playlist', 'video'],
  filter: ['video'],
  folder_id: ['folder'],
  invited_by_user_id: ['user'],
  job_id: ['job'],
  key_id: ['playback_key'],
  media_id: ['media'],
  oauth_id: ['third_party_token'],
  organisation_encodingformat_id: ['encoding_format'],
  organisation_id: ['organisation'],
  overlay_id: ['overlay'],
  parent_id: ['folder'],
  passkey_id: ['passkey'],
  playlist_id: ['playlist'],
  postcode: ['postcode'],
  presentation_id: ['presentation'],
  rolls: ['video'],
  session_id: ['session'],
  setting_id: ['setting'],
  settings_id: ['setting'],
  submission_id: ['submission'],
  theme_id: ['theme'],
  upload_id: ['upload'],
  user_id: ['user'],
  user_session_id: ['user_session'],
  video_id: ['video'],
  videos: ['video'],
  view_id: ['view'],
  webhook_id: ['webhook'],
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
