import i18next from 'i18next'

type Group =
  | 'visibility'
  | 'video.fileState'
  | 'status'
  | 'users.short'
  | 'webhooks.states'
  | 'presentation.states'
  | 'job.states'
  | 'job.actions'
  | 'system.services'
  | 'system.kinds'
  | 'system.causes'

/** Returns the text for a value of the API. A later version of the platform may have other values, which are shown as they are. */
export function valueLabel(group: Group, value: string): string {
  const key = `${group}.${value}`
  return i18next.exists(key) ? String(i18next.t(key as never)) : value
}
