// Faults: B20, A2
import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { nouns } from './endpoint-cases/index.ts'
import { formatEndpoint, readEndpoints } from './support/endpoints.ts'
import { startPlatform } from './support/platform.ts'
import { describeRows } from './support/row-suite.ts'

const only = process.env['VITASCOPE_ROWS']
const picked = nouns.filter(({ noun }) => only === undefined || only.split(',').includes(noun))

const opened = describeRows(picked, () => startPlatform())

// Every operation was called by now, most of them with several statuses.
test('each service has at most the documented number of time series', async () => {
  const guide = await readFile(new URL('../docs/operate/monitor.md', import.meta.url), 'utf8')
  const rows = guide.matchAll(/^\| (\w+) \| [\d,]+ \| ([\d,]+) \|/gm)
  const limits = [...rows].map(([, service = '', limit = '']) => [service, Number(limit.replaceAll(',', ''))] as const)
  expect(limits).toHaveLength(8)
  const response = await fetch(opened().platform.metricsUrl)
  const lines = (await response.text()).split('\n').filter((line) => !line.startsWith('#'))
  const counts = limits.map(([service]) => [service, lines.filter((line) => line.includes(`service="${service}"`)).length] as const)
  for (const [index, [service, count]] of counts.entries()) {
    expect([service, count]).not.toEqual([service, 0])
    expect([service, count <= (limits[index]?.[1] ?? 0) || count]).toEqual([service, true])
  }
})

if (only === undefined) {
  test('every line of docs/endpoints.csv has an endpoint case', async () => {
    const endpoints = await readEndpoints()
    const covered = new Set(nouns.flatMap(({ rows }) => rows.map((row) => row.endpoint)))
    const names = endpoints.map(formatEndpoint)
    expect(names.filter((name) => !covered.has(name))).toEqual([])
    expect([...covered].filter((name) => !names.includes(name))).toEqual([])
  })
}
