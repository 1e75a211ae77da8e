import { SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'

const DAY_MS = 86_400_000
const CHOICES = [7, 30, 90, 365]

export interface Period {
  date_start: string
  date_end: string
}

/** Returns the last days in UTC, with today. */
export function periodOf(days: number, now = Date.now()): Period {
  const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  return { date_start: toDay(now - (days - 1) * DAY_MS), date_end: toDay(now) }
}

/** Returns each day of a period. */
export function listDays({ date_start, date_end }: Period): string[] {
  const days: string[] = []
  for (let ms = Date.parse(date_start); ms <= Date.parse(date_end); ms += DAY_MS) days.push(new Date(ms).toISOString().slice(0, 10))
  return days
}

export function PeriodSelect({ days, setDays }: { days: number; setDays: (days: number) => void }) {
  const { t } = useTranslation()
  return (
    <SegmentedControl
      aria-label={t('analytics.period')}
      data={CHOICES.map((count) => ({ value: String(count), label: t('analytics.days', { count }) }))}
      value={String(days)}
      onChange={(value) => setDays(Number(value))}
    />
  )
}
