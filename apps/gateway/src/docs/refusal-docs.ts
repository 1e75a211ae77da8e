import { z } from 'zod'
import { flatFields } from '../payload/payload-form.ts'
import type { Route, Verb } from '../route.ts'

export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'Where the code is explained.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'A sentence that can be acted on.' }),
    instance: z.string().meta({ description: 'The path, without what could be a secret.' }),
    code: z.string().meta({ description: 'Stable.' }),
    request_id: z.string().meta({ description: 'Leads to the request in the log.' }),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Every bad field at once.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457' })

/** The statuses that a route may answer besides success, and when. */
export function generalRefusals(route: Route, verb: Verb): Record<string, string> {
  const write = verb !== 'get'
  const guarded = route.access !== 'public'
  return {
    400: 'The payload or a parameter is wrong, or a field is unknown.',
    401: guarded ? 'There is no key, or not a good one.' : 'The key that was sent is not a good one.',
    403: guarded ? 'The key does not allow it.' : 'The organisation of the key that was sent is inactive.',
    ...(namesRecords(route) && { 404: 'There is no such thing, or it is of another organisation.' }),
    ...(write && {
      408: 'The body came too slowly.',
      409: 'The state of things does not allow it.',
      413: 'The body has more than 1 MiB.',
      415: 'The content type is none of the three.',
    }),
    ...(route.optionsHeaders?.['Tus-Version'] !== undefined && {
      412: 'The version of tus is another one.',
      423: 'Another request goes on with the upload.',
      ...(verb !== 'head' && { 460: 'The bytes are not those of the checksum.' }),
    }),
    ...(verb === 'post' && { 422: 'The idempotency key was used with another payload.' }),
    431: 'Address and headers have more than 16 KiB.',
    429: 'Too many requests: `Retry-After`, `RateLimit`, `RateLimit-Policy`.',
    503: 'Something that is needed is down, or there is too much to do: `Retry-After`.',
  }
}

/** True where the path, the query or the payload says by an id what is meant; `data` of a query is a payload with ids. */
function namesRecords(route: Route): boolean {
  const { params, query } = route
  const names = [query, flatFields(route)].flatMap((shape) => Object.keys(shape?.shape ?? {}))
  return Object.keys(params.shape).length > 0 || names.some((name) => name === 'data' || name.endsWith('_id'))
}

/** Codes that any route may answer. */
export const GENERAL_CODES: Readonly<Record<string, string>> = {
  invalid_input: 'Fields or parameters are wrong; `errors` names each.',
  malformed_payload: 'The payload cannot be read in any of the three forms.',
  bad_request: 'The request is no HTTP as it should be.',
  request_timeout: 'The request, or its body, took too long to arrive.',
  headers_too_large: 'Address and headers have more than 16 KiB.',
  payload_too_large: 'The body has more than 1 MiB.',
  unsupported_media_type: 'The content type is none of the three.',
  key_required: 'There is no key.',
  key_malformed: 'What was sent is no key: Basic KEY:x or Bearer KEY.',
  key_unknown: 'Nobody has this key.',
  key_expired: 'The key has expired.',
  key_revoked: 'The key was revoked.',
  system_only: 'Only for system users.',
  super_user_only: 'Only for super users of the organisation and system users.',
  missing_resource: 'The key lacks the ACL resource of the endpoint.',
  foreign_organisation: 'The organisation is not that of the key.',
  organisation_inactive: 'The organisation is inactive: its keys are refused, and nothing can be uploaded to it.',
  not_found: 'There is no such path.',
  api_key_not_found: 'There is no such key, it was revoked, or it is of another organisation.',
  clip_not_found: 'There is no such clip, or it is of another organisation.',
  collaboration_not_found: 'There is no such collaboration entry, it is of another organisation, or its video or user is gone.',
  caption_not_found: 'There is no such caption, or it is of another organisation.',
  folder_not_found: 'There is no such folder, or it is of another organisation.',
  folder_video_not_found: 'The folder does not hold this video.',
  job_not_found: 'There is no such job, or it is of another organisation.',
  metadata_not_found: 'The video has no metadata of this name.',
  media_not_found: 'There is no such media, or it is of another organisation.',
  organisation_not_found: 'There is no such organisation.',
  playlist_not_found: 'There is no such playlist, or it is of another organisation.',
  presentation_not_found: 'There is no such presentation, it is of another organisation, or guests may not see it.',
  setting_not_found: 'There is no such player settings profile, or it is of another organisation.',
  theme_not_found: 'There is no such theme, or it is of another organisation.',
  third_party_token_not_found: 'There is no such third-party token, it was deleted, or it is of another organisation.',
  user_not_found: 'There is no such user, or it is of another organisation.',
  webhook_not_found: 'There is no such webhook, or it is of another organisation.',
  delivery_not_found: 'The webhook’s log has no such delivery.',
  video_not_found: 'There is no such video, it is of another organisation, or guests may not see it.',
  method_not_allowed: 'The path takes other verbs: `Allow` names them.',
  idempotency_running: 'The first request with this idempotency key still runs.',
  idempotency_mismatch: 'The idempotency key was used with another payload.',
  rate_limited: 'Too many requests: `Retry-After` says when to try again.',
  too_many_changes: 'The organisation makes too many changes at once: `Retry-After` says when to try again.',
  too_many_at_once: 'Too many requests of this key, or of this address, are under way: wait for answers.',
  overloaded: 'Too many requests are under way: `Retry-After` says when to try again.',
  deadline_exceeded: 'A service did not answer in time.',
  database_busy: 'Others were changing the same just then: try again.',
  database_unavailable: 'The database of a service is not to be reached, or takes no writes: try again.',
  service_unavailable: 'A service is not to be reached.',
  not_ready: 'Not everything is there yet; `errors` names what is missing.',
  internal: 'Something went wrong on our side; `request_id` leads to it in the log.',
}
