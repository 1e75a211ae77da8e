// Faults: B20, A2
import { expect, test } from '@jest/globals'
import { nouns } from './endpoint-cases/index.ts'
import { formatEndpoint, readEndpoints } from './support/endpoints.ts'
import { startPlatform } from './support/platform.ts'
import { describeRows } from './support/row-suite.ts'

const only = process.env['VITASCOPE_ROWS']
const picked = nouns.filter(({ noun }) => only === undefined || only.split(',').includes(noun))

describeRows(picked, () => startPlatform())

if (only === undefined) {
  test('every line of docs/endpoints.csv has an endpoint case', async () => {
    const endpoints = await readEndpoints()
    const covered = new Set(nouns.flatMap(({ rows }) => rows.map((row) => row.endpoint)))
    const names = endpoints.map(formatEndpoint)
    expect(names.filter((name) => !covered.has(name))).toEqual([])
    expect([...covered].filter((name) => !names.includes(name))).toEqual([])
  })
}
