import type { Dimension as DimensionMessage } from '@vitascope/proto/analytics/v1/report'
import type { Dimension } from '../view/dimension.ts'

/** The stored names of the dimensions of requests. */
export const DIMENSION_NAMES: Readonly<Record<string, Dimension>> = {
  DIMENSION_DEVICE: 'device',
  DIMENSION_BROWSER: 'browser',
  DIMENSION_OS: 'os',
  DIMENSION_COUNTRY: 'country',
  DIMENSION_REFERRER: 'referrer',
} satisfies Partial<Record<DimensionMessage, Dimension>>
