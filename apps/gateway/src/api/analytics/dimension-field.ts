import { Dimension } from '@vitascope/proto/analytics/v1/report'
import { oneOf } from '../../server/schema/fields.ts'

export const DIMENSIONS = {
  device: Dimension.DIMENSION_DEVICE,
  browser: Dimension.DIMENSION_BROWSER,
  os: Dimension.DIMENSION_OS,
  country: Dimension.DIMENSION_COUNTRY,
  referrer: Dimension.DIMENSION_REFERRER,
} as const

const NAMES = ['device', 'browser', 'os', 'country', 'referrer'] as const satisfies readonly (keyof typeof DIMENSIONS)[]

/** A query parameter with the name of a dimension. */
export function dimensionField(description: string) {
  return oneOf(NAMES, { description, example: 'country' })
}
