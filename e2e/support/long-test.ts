import { test } from '@jest/globals'
import { isLongRun } from '@vitascope/testing'

/** Defines a test in `npm run test:long`, and none in other runs. For cases that take longer than they add to `npm test`. */
export const longTest: (...parameters: Parameters<typeof test>) => void = isLongRun ? test : () => {}
