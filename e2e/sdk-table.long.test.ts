import { expect, test } from '@jest/globals'
import { nouns } from './endpoint-cases/index.ts'
import { startPlatform } from './support/platform.ts'
import { describeRows } from './support/row-suite.ts'
import { createSdkApi, sent } from './support/sdk-api.ts'
import { startTestPlatform } from './support/test-platform.ts'

// The endpoint cases of table.test.ts with the SDK as transport.
const only = process.env['VITASCOPE_ROWS']?.split(',')
const picked = nouns.filter(({ noun }) => only === undefined || only.includes(noun))

describeRows(picked, () => startPlatform({}, startTestPlatform, createSdkApi))

test('the SDK has sent most of the requests', () => {
  expect(sent.bySdk).toBeGreaterThan(2 * sent.directly)
})
