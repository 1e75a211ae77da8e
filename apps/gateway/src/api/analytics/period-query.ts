import { invalid } from '@vitascope/errors'
import type { Period } from '@vitascope/proto/analytics/v1/report'
import { day } from '../../server/schema/fields.ts'

const firstDay = '2012-01-01'
const first = { description: `First day of the period, in UTC. The default is ${firstDay}.`, example: '2030-01-01' }
const last = { description: 'Last day of the period, in UTC. The default is today.', example: '2030-12-31' }

/** Query parameters for the days of a report, both inclusive. */
export const periodQuery = { date_start: day(first).optional(), date_end: day(last).optional() }

/**
 * Query parameters for the days of the language reports, both inclusive. The API specification
 * names them `date_from` and `date_to` here. The names of the other reports are aliases.
 */
export const languagePeriodQuery = {
  date_from: day(first).optional(),
  date_to: day(last).optional(),
  date_start: day({ ...first, description: 'Same as `date_from`.' }).optional(),
  date_end: day({ ...last, description: 'Same as `date_to`.' }).optional(),
}

type DayParameters<Names extends string> = { [Name in Names]?: string | undefined }

export function readPeriod({ date_start, date_end }: DayParameters<'date_start' | 'date_end'>): Period {
  return toPeriod({ name: 'date_start', day: date_start }, { name: 'date_end', day: date_end })
}

export function readLanguagePeriod(query: DayParameters<'date_from' | 'date_to' | 'date_start' | 'date_end'>): Period {
  const pairs = [
    ['date_from', 'date_start'],
    ['date_to', 'date_end'],
  ] as const
  const conflicts = pairs.filter(([name, alias]) => query[name] !== undefined && query[alias] !== undefined)
  if (conflicts.length > 0)
    throw invalid(conflicts.map(([name, alias]) => ({ field: alias, message: `must not be combined with ${name}` })))
  const readDay = ([name, alias]: (typeof pairs)[number]): NamedDay =>
    query[alias] === undefined ? { name, day: query[name] } : { name: alias, day: query[alias] }
  return toPeriod(readDay(pairs[0]), readDay(pairs[1]))
}

interface NamedDay {
  name: string
  day: string | undefined
}

/**
 * Returns the period with defaults for missing days. Throws `invalid` if it ends before it starts.
 * Years have four digits, so dates compare as strings.
 */
function toPeriod(start: NamedDay, end: NamedDay): Period {
  const dateStart = start.day ?? firstDay
  const dateEnd = end.day ?? new Date().toISOString().slice(0, 10)
  if (dateStart <= dateEnd) return { dateStart, dateEnd }
  const [field, message] =
    end.day === undefined
      ? [start, `must not be after ${dateEnd}, which is today`]
      : [end, `must not be before ${start.name} (${dateStart})`]
  throw invalid([{ field: field.name, message }])
}
