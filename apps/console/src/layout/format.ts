import i18next from 'i18next'

/** Returns a duration such as `1:02:03` for seconds. Empty if it is unknown. */
export function formatDuration(seconds: string | number): string {
  const total = Math.round(Number(seconds))
  if (seconds === '' || !Number.isFinite(total)) return ''
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(total / 3_600), Math.floor(total / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`
}

/** Returns a local date and time for a time of the API, which is in UTC without a zone. Empty for an empty text. */
export function formatTime(text: string): string {
  if (text === '') return ''
  const time = new Date(`${text.replace(' ', 'T')}Z`)
  return new Intl.DateTimeFormat(i18next.language, { dateStyle: 'medium', timeStyle: 'short' }).format(time)
}

export function formatNumber(value: number): string {
  return new Intl.NumberFormat(i18next.language).format(value)
}
