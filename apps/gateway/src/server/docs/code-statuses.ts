/** The codes of problem documents by HTTP status. Two codes have more than one status. */
const CODES_OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  400: ['bad_request', 'entity_too_large', 'entity_too_small', 'invalid_input', 'malformed_payload'],
  401: ['key_expired', 'key_malformed', 'key_required', 'key_revoked', 'key_unknown', 'sign_in_expired', 'video_protected'],
  403: [
    ...['foreign_organisation', 'metadata_read_only', 'missing_resource', 'organisation_inactive', 'own_key_only', 'own_rights'],
    ...[
      'foreign_page',
      'link_invalid',
      'oidc_failed',
      'oidc_user_unknown',
      'password_wrong',
      'policy_refused',
      'sign_in_failed',
      'super_user_only',
      'system_only',
    ],
  ],
  404: [
    ...['api_key_not_found', 'caption_not_found', 'clip_not_found', 'collaboration_not_found', 'contact_form_not_found'],
    ...['delivery_not_found', 'encoding_format_not_found', 'file_not_found', 'folder_not_found', 'folder_video_not_found'],
    ...['job_not_found', 'media_not_found', 'metadata_not_found', 'not_found', 'organisation_not_found', 'overlay_not_found'],
    ...['playback_key_not_found', 'playlist_not_found', 'postcode_not_found', 'presentation_not_found', 'queue_job_not_found'],
    ...['session_not_found', 'setting_not_found', 'source_not_found', 'submission_not_found', 'theme_not_found'],
    ...['third_party_token_not_found', 'upload_not_found', 'user_not_found', 'user_session_not_found', 'video_expired', 'video_not_found'],
    ...['video_or_playlist_not_found', 'view_not_found', 'webhook_not_found'],
  ],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: [
    ...['caption_changed', 'captions_full', 'clips_full', 'collaboration_full', 'delivery_waiting', 'email_taken', 'etag_mismatch'],
    ...['folder_exists', 'idempotency_running', 'job_finished', 'job_not_failed', 'job_overtaken', 'last_system_user'],
    ...[
      'metadata_exists',
      'metadata_full',
      'no_password',
      'no_picture',
      'object_exists',
      'object_store_elsewhere',
      'offset_mismatch',
      'oidc_disabled',
    ],
    ...['only_publish', 'organisation_inactive', 'overlays_full', 'playback_key_exists', 'playback_keys_full', 'playlist_full'],
    ...['presentation_busy', 'queue_full', 'setting_in_use', 'slides_running', 'system_organisation', 'tags_full', 'theme_in_use'],
    ...['too_many_active_keys', 'upload_finished', 'upload_going', 'user_active', 'video_not_ready', 'webhook_disabled', 'webhooks_full'],
  ],
  410: ['ticket_expired', 'ticket_used'],
  412: ['record_changed', 'tus_version_unknown'],
  413: ['caption_too_large', 'payload_too_large', 'quota_bytes', 'quota_minutes', 'upload_too_large'],
  415: ['unsupported_media_type'],
  422: ['idempotency_mismatch'],
  423: ['upload_locked'],
  429: [
    ...['passwords_busy', 'rate_limited', 'too_many_at_once', 'too_many_changes', 'too_many_jobs', 'too_many_links', 'too_many_reports'],
    'too_many_uploads',
  ],
  431: ['headers_too_large'],
  460: ['checksum_mismatch'],
  500: ['internal'],
  501: ['format_unsupported'],
  503: [
    ...[
      'captions_busy',
      'database_busy',
      'database_unavailable',
      'deadline_exceeded',
      'ids_exhausted',
      'intake_full',
      'not_ready',
      'oidc_unavailable',
    ],
    ...['overloaded', 'poster_failed', 'service_unavailable', 'session_intake_full', 'storage_busy', 'storage_full'],
    ...['storage_unavailable', 'video_unchecked'],
  ],
}

/** Returns the statuses that a code may have. */
export function statusesOfCode(code: string): number[] {
  return Object.entries(CODES_OF_STATUS).flatMap(([status, codes]) => (codes.includes(code) ? [Number(status)] : []))
}
