import { test } from '@jest/globals'
import { isLongRun } from '@vitascope/testing'

/** Defines a test that only `npm run test:long` runs, for slow variants of what another test covers. */
export const longTest: (...parameters: Parameters<typeof test>) => void = isLongRun ? test : () => {}
