import { type FieldError, requireValid } from '@vitascope/errors'
import { isDay } from '@vitascope/request'

/** The first and the last UTC day as `YYYY-MM-DD`. Both are part of the period. */
export interface Period {
  dateStart: string
  dateEnd: string
}

const DEFAULT_START = '2012-01-01'

/**
 * Returns the requested period. An empty start becomes 2012-01-01, an empty end today (UTC). Throws
 * `invalid` if a day does not exist or the end is before the start.
 */
export function readPeriod(requested: Period | undefined, now: Date = new Date()): Period {
  const period = { dateStart: requested?.dateStart || DEFAULT_START, dateEnd: requested?.dateEnd || now.toISOString().slice(0, 10) }
  const problems: FieldError[] = []
  if (!isDay(period.dateStart)) problems.push({ field: 'date_start', message: 'must be a day, YYYY-MM-DD' })
  if (!isDay(period.dateEnd)) problems.push({ field: 'date_end', message: 'must be a day, YYYY-MM-DD' })
  if (problems.length === 0 && period.dateEnd < period.dateStart) {
    problems.push({ field: 'date_end', message: 'must not be before date_start' })
  }
  requireValid(problems)
  return period
}
