import i18next from 'i18next'

type Group =
  | 'visibility'
  | 'video.fileState'
  | 'status'
  | 'users.short'
  | 'webhooks.states'
  | 'keys.actions'
  | 'keys.objects'
  | 'presentation.states'
  | 'job.states'
  | 'job.actions'
  | 'jobCodes'
  | 'system.services'
  | 'system.kinds'
  | 'system.causes'
  | 'fields'
  | 'errorCodes'

/**
 * Returns the text for a value of the API. A later version of the platform may have other values, for which it returns
 * `fallback`: by default the value itself.
 */
export function valueLabel(group: Group, value: string, fallback = value): string {
  const key = `${group}.${value}`
  return i18next.exists(key) ? String(i18next.t(key as never)) : fallback
}
