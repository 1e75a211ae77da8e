import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expandTargets } from '../apps/gateway/src/server/route/route-index.ts'
import { routes } from '../apps/gateway/src/table.ts'
import { isProgram, root } from './lib/run-command.ts'

/** A row of docs/endpoints.csv. */
interface Endpoint {
  method: string
  path: string
  access: string
  section: string
}

/** All endpoints, with their aliases. */
const csvFile = 'docs/endpoints.csv'
/** The endpoints of the v2 interface. None of them may disappear. */
const v2File = 'tools/v2-endpoints.csv'

/** Compares docs/endpoints.csv with the route table and with the endpoints of the v2 interface. */
export function checkEndpoints(): { problems: string[]; summary: string } {
  const problems: string[] = []
  const endpoints = readCsv(csvFile, ['method', 'path', 'access', 'section'], problems)
  const v2 = readCsv(v2File, ['method', 'path', 'section'], problems)
  problems.push(...compareWithTable(endpoints), ...compareWithV2(endpoints, v2))
  return { problems, summary: `endpoints: ${endpoints.length}, among them ${v2.length} of the v2 interface` }
}

function readCsv<Column extends keyof Endpoint>(file: string, columns: readonly Column[], problems: string[]): Pick<Endpoint, Column>[] {
  const [head, ...lines] = readFileSync(join(root, file), 'utf8').trimEnd().split('\n')
  if (head !== columns.join(',')) problems.push(`${file}: the first line must be ${columns.join(',')}`)
  const keys = new Set<string>()
  return lines.map((line, index) => {
    const cells = line.split(',')
    const [method = '', path = ''] = cells
    const position = `${file}:${index + 2}`
    if (cells.length !== columns.length || cells.includes('')) problems.push(`${position}: must have ${columns.join(', ')}: ${line}`)
    if (keys.has(toKey({ method, path }))) problems.push(`${position}: ${method} ${path} is listed twice`)
    keys.add(toKey({ method, path }))
    return Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ''])) as Pick<Endpoint, Column>
  })
}

/** Checks that the file and the route table list the same endpoints, with the same access and section. */
function compareWithTable(endpoints: readonly Endpoint[]): string[] {
  const documented = new Map(endpoints.map((endpoint) => [toKey(endpoint), endpoint]))
  const served = routes.flatMap((route) =>
    expandTargets(route).map(({ verb, path }) => ({ method: verb.toUpperCase(), path, access: route.access, section: route.section })),
  )
  const servedKeys = new Set(served.map(toKey))
  const missing = endpoints
    .filter((endpoint) => !servedKeys.has(toKey(endpoint)))
    .map(({ method, path }) => `${method} ${path} is in ${csvFile}, but not in the route table`)
  const wrong = served.flatMap((target) => {
    const row = documented.get(toKey(target))
    const name = `${target.method} ${target.path}`
    if (!row) return [`${name} is in the route table, but not in ${csvFile}`]
    return (['access', 'section'] as const)
      .filter((column) => row[column] !== target[column])
      .map((column) => `${name}: ${column} is ${target[column]} in the route table, ${row[column]} in ${csvFile}`)
  })
  return [...missing, ...wrong]
}

function compareWithV2(endpoints: readonly Endpoint[], v2: readonly Pick<Endpoint, 'method' | 'path' | 'section'>[]): string[] {
  const rows = new Map(endpoints.map((endpoint) => [toKey(endpoint), endpoint]))
  return v2.flatMap((endpoint) => {
    const row = rows.get(toKey(endpoint))
    const name = `${endpoint.method} ${endpoint.path}`
    if (!row) return [`${name} of the v2 interface is not in ${csvFile}`]
    return row.section === endpoint.section ? [] : [`${name}: section is ${endpoint.section} in ${v2File}, ${row.section} in ${csvFile}`]
  })
}

/** Returns the key of an endpoint. It ignores parameter names and a trailing slash. */
function toKey({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replace(/\{\w+\}|:\w+/g, '{}').replace(/\/$/, '')}`
}

if (isProgram(import.meta.url)) {
  const { problems, summary } = checkEndpoints()
  for (const problem of problems) console.error(problem)
  console.log(problems.length === 0 ? summary : `${summary}; ${problems.length} differences`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
