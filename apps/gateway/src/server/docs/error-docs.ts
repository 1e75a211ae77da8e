import { z } from 'zod'
import { flatFields } from '../payload/payload-schema.ts'
import type { Route, Verb } from '../route/route.ts'

export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'URL of the description of the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong and what to do, in plain text.' }),
    instance: z.string().meta({ description: 'Path of the request, without possible secrets.' }),
    code: z.string().meta({ description: 'Stable error code.' }),
    request_id: z.string().meta({ description: 'Id of the request in the log.' }),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'All invalid fields.' }),
  })
  .meta({ id: 'Problem', description: 'Problem document (RFC 9457).' })

/** Returns the error statuses of a route, with their descriptions. */
export function generalErrors(route: Route, verb: Verb): Record<string, string> {
  const isWrite = verb !== 'get'
  const requiresKey = route.access !== 'public'
  return {
    400: 'The payload or a parameter is invalid, or a field is unknown.',
    401: requiresKey ? 'The key is missing or invalid.' : 'The key is invalid.',
    403: requiresKey ? 'The key does not have access.' : 'The organisation of the key is inactive.',
    ...(refersToRecord(route) && { 404: 'The record does not exist, or it belongs to another organisation.' }),
    ...(isWrite && {
      408: 'The body arrived too slowly.',
      409: 'The request conflicts with the current state.',
      413: 'The body has more than 1 MiB.',
      415: 'The content type is not one of the three supported types.',
    }),
    ...(route.optionsHeaders?.['Tus-Version'] !== undefined && {
      412: 'The tus version is not supported.',
      423: 'Another request is using the upload.',
      ...(verb !== 'head' && { 460: 'The bytes do not match the checksum.' }),
    }),
    ...(Object.hasOwn(route.errorCodes, 'ticket_expired') && { 410: 'The ticket has expired or was used.' }),
    ...(verb === 'post' && { 422: 'The idempotency key was used with another payload.' }),
    431: 'The request line and headers have more than 16 KiB.',
    429: 'There were too many requests. The headers `Retry-After`, `RateLimit` and `RateLimit-Policy` describe the limit.',
    503: 'A required service is unavailable, or the platform is overloaded. Retry after the time in `Retry-After`.',
  }
}

/**
 * Returns true if the path, the query or the payload refers to a record by id. A `data` parameter
 * is a payload that may contain ids.
 */
function refersToRecord(route: Route): boolean {
  const { params, query } = route
  const names = [query, flatFields(route)].flatMap((shape) => Object.keys(shape?.shape ?? {}))
  return Object.keys(params.shape).length > 0 || names.some((name) => name === 'data' || name.endsWith('_id'))
}

/** Error codes that any route may return. */
export const GENERAL_CODES: Readonly<Record<string, string>> = {
  invalid_input: 'Fields or parameters are invalid. `errors` lists each of them.',
  malformed_payload: 'The payload cannot be parsed in any of the three forms.',
  bad_request: 'The HTTP request is malformed.',
  request_timeout: 'The request or its body took too long to arrive.',
  headers_too_large: 'The request line and headers have more than 16 KiB.',
  payload_too_large: 'The body has more than 1 MiB.',
  unsupported_media_type: 'The content type is not one of the three supported types.',
  key_required: 'The request has no API key.',
  key_malformed: 'The API key is malformed. Send Basic KEY:x or Bearer KEY.',
  key_unknown: 'The API key does not exist.',
  key_expired: 'The API key has expired.',
  key_revoked: 'The API key was revoked.',
  system_only: 'Only system users may call this operation.',
  super_user_only: 'Only super users of the organisation and system users may call this operation.',
  missing_resource: 'The API key does not have the ACL resource of the operation.',
  foreign_organisation: 'The API key belongs to another organisation.',
  organisation_inactive: 'The organisation is inactive. Its keys are rejected, and uploads to it are rejected.',
  not_found: 'The path does not exist.',
  api_key_not_found: 'The API key does not exist, it was revoked, or it belongs to another organisation.',
  clip_not_found: 'The clip does not exist, or it belongs to another organisation.',
  collaboration_not_found: 'The collaboration entry does not exist, it belongs to another organisation, or its video or user was deleted.',
  caption_not_found: 'The caption does not exist, or it belongs to another organisation.',
  folder_not_found: 'The folder does not exist, or it belongs to another organisation.',
  folder_video_not_found: 'The folder does not contain the video.',
  job_not_found: 'The job does not exist, or it belongs to another organisation.',
  metadata_not_found: 'The video has no metadata with this name.',
  media_not_found: 'The media does not exist, or it belongs to another organisation.',
  organisation_not_found: 'The organisation does not exist.',
  playlist_not_found: 'The playlist does not exist, or it belongs to another organisation.',
  presentation_not_found: 'The presentation does not exist, it belongs to another organisation, or guests may not see it.',
  setting_not_found: 'The player settings profile does not exist, or it belongs to another organisation.',
  submission_not_found: 'The contact form does not have this submission.',
  theme_not_found: 'The theme does not exist, or it belongs to another organisation.',
  third_party_token_not_found: 'The third-party token does not exist, it was deleted, or it belongs to another organisation.',
  user_not_found: 'The user does not exist, or it belongs to another organisation.',
  webhook_not_found: 'The webhook does not exist, or it belongs to another organisation.',
  delivery_not_found: 'The log of the webhook does not contain this delivery.',
  video_not_found: 'The video does not exist, it belongs to another organisation, or guests may not see it.',
  video_protected: 'oEmbed describes no videos that require a token or a password, or that playback rules deny. Link to the page instead.',
  format_unsupported: 'oEmbed supports the formats `json` and `xml`.',
  method_not_allowed: 'The path does not support the method. `Allow` lists the supported methods.',
  idempotency_running: 'The first request with this idempotency key is still running.',
  idempotency_mismatch: 'The idempotency key was used with another payload.',
  rate_limited: 'There were too many requests. Retry after the time in `Retry-After`.',
  too_many_changes: 'The organisation makes too many concurrent changes. Retry after the time in `Retry-After`.',
  too_many_at_once: 'The API key or the IP address has too many active requests. Wait for responses.',
  overloaded: 'The platform has too many active requests. Retry after the time in `Retry-After`.',
  deadline_exceeded: 'A service did not respond in time.',
  database_busy: 'A concurrent change conflicts with this one. Try again.',
  database_unavailable: 'The database of a service is unreachable or does not accept writes. Try again.',
  service_unavailable: 'A service is unreachable.',
  not_ready: 'The platform is not ready. `errors` lists the missing parts.',
  internal: 'An internal error occurred. The log entry has the `request_id`.',
}
