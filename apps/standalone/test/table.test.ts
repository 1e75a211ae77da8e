import { expect, test } from '@jest/globals'
import { nouns } from './rows/index.ts'
import { nameOfEndpoint, readEndpoints } from './support/endpoints.ts'
import { openHouse } from './support/house.ts'
import { describeRows } from './support/row-suite.ts'

const only = process.env['VITASCOPE_ROWS']
const picked = nouns.filter(({ noun }) => only === undefined || only.split(',').includes(noun))

describeRows(picked, () => openHouse())

if (only === undefined) {
  test('every line of docs/endpoints.csv has its row', async () => {
    const endpoints = await readEndpoints()
    const covered = new Set(nouns.flatMap(({ rows }) => rows.map((row) => row.endpoint)))
    const open = endpoints.filter(({ state }) => state === 'open')
    const done = endpoints.filter(({ state }) => state === 'done')
    const count = done.filter((endpoint) => covered.has(nameOfEndpoint(endpoint))).length
    process.stderr.write(`endpoints: ${endpoints.length} rows of the document and its additions, ${count} covered\n`)
    expect(done.filter((endpoint) => !covered.has(nameOfEndpoint(endpoint))).map(nameOfEndpoint)).toEqual([])
    expect(open.map(nameOfEndpoint)).toEqual([])
    expect([...covered].filter((name) => !done.some((endpoint) => nameOfEndpoint(endpoint) === name))).toEqual([])
  })
}
