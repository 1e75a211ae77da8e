import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { targetsOf } from '../apps/gateway/src/routing/route-index.ts'
import { routes } from '../apps/gateway/src/table.ts'
import { isProgram, root } from './run-command.ts'

/** One line of docs/endpoints.csv. */
interface Endpoint {
  method: string
  path: string
  access: string
  section: string
  status: string
}

const csvFile = 'docs/endpoints.csv'
const columns = ['method', 'path', 'access', 'section', 'status'] as const
const accesses = new Set(['public', 'user', 'super', 'system'])
const statuses = new Set(['open', 'done'])

/** Holds docs/endpoints.csv against the table of routes and, where it lies beside the checkout, the interface document. */
export function checkEndpoints(): { problems: string[]; summary: string } {
  const { endpoints, problems } = readCsv(readFileSync(join(root, csvFile), 'utf8'))
  problems.push(...compareWithTable(endpoints))
  const document = findDocument()
  const documented = document === undefined ? undefined : endpointsOfDocument(readFileSync(document, 'utf8'))
  if (documented) problems.push(...compareWithDocument(endpoints, documented))
  const done = endpoints.filter(({ status }) => status === 'done').length
  const beside = documented ? `${documented.length} endpoints of the interface document` : 'interface document not beside the checkout'
  return { problems, summary: `endpoints: ${endpoints.length} rows, ${done} done, ${endpoints.length - done} open; ${beside}` }
}

function readCsv(text: string): { endpoints: Endpoint[]; problems: string[] } {
  const [head, ...lines] = text.trimEnd().split('\n')
  const problems = head === columns.join(',') ? [] : [`${csvFile}: the first line must be ${columns.join(',')}`]
  const seen = new Set<string>()
  const endpoints = lines.map((line, index) => {
    const [method = '', path = '', access = '', section = '', status = '', ...more] = line.split(',')
    const endpoint = { method, path, access, section, status }
    const at = `${csvFile}:${index + 2}`
    if (more.length > 0 || !accesses.has(access) || !statuses.has(status) || section === '') problems.push(`${at}: ${line} is no endpoint`)
    if (seen.has(keyOf(endpoint))) problems.push(`${at}: ${method} ${path} is there twice`)
    seen.add(keyOf(endpoint))
    return endpoint
  })
  return { endpoints, problems }
}

/** Every verb and path that is done is in the table, with the same access and section, and the other way round. */
function compareWithTable(endpoints: readonly Endpoint[]): string[] {
  const done = new Map(endpoints.filter(({ status }) => status === 'done').map((endpoint) => [keyOf(endpoint), endpoint]))
  const served = routes.flatMap((route) =>
    targetsOf(route).map(({ verb, path }) => ({ method: verb.toUpperCase(), path, access: route.access, section: route.section })),
  )
  const known = new Set(served.map(keyOf))
  const missing = [...done]
    .filter(([key]) => !known.has(key))
    .map(([, { method, path }]) => `${method} ${path} is done, but not in the table of routes`)
  const wrong = served.flatMap((target) => {
    const row = done.get(keyOf(target))
    const name = `${target.method} ${target.path}`
    if (!row) return [`${name} is in the table of routes, but not done in ${csvFile}`]
    return (['access', 'section'] as const)
      .filter((column) => row[column] !== target[column])
      .map((column) => `${name}: ${column} is ${target[column]} in the table of routes, ${row[column]} in ${csvFile}`)
  })
  return [...missing, ...wrong]
}

function compareWithDocument(endpoints: readonly Endpoint[], documented: readonly Documented[]): string[] {
  const rows = new Map(endpoints.map((endpoint) => [keyOf(endpoint), endpoint]))
  return documented.flatMap((endpoint) => {
    const row = rows.get(keyOf(endpoint))
    const name = `${endpoint.method} ${endpoint.path}`
    if (!row) return [`${name} of the interface document is not in ${csvFile}`]
    return row.section === endpoint.section
      ? []
      : [`${name}: section is ${endpoint.section} in the interface document, ${row.section} in ${csvFile}`]
  })
}

type Documented = Pick<Endpoint, 'method' | 'path' | 'section'>

/** The rows of its endpoint tables, and the headings that are endpoints of their own. */
function endpointsOfDocument(text: string): Documented[] {
  const found: Documented[] = []
  let section = ''
  let inTable = false
  for (const line of text.split('\n')) {
    const [, heading] = /^### ([^(]+)/.exec(line) ?? []
    if (heading) section = heading.trim()
    const cells = line.startsWith('|') ? line.split('|').map((cell) => cell.trim()) : undefined
    const [, method = '', path = ''] = cells ?? /^#### ([A-Z]+) (\/\S+)/.exec(line) ?? []
    if (!cells) inTable = false
    else if (method === 'Method') inTable = path === 'Path'
    const isRow = cells === undefined || inTable
    if (isRow && /^[A-Z]+$/.test(method) && path.startsWith('/'))
      found.push({ method, path: path.replace(/ \(.*/, '').replace(/\?.*/, ''), section })
  }
  return found
}

function findDocument(): string | undefined {
  const shared = join(root, '..', 'shared')
  const name = existsSync(shared) ? readdirSync(shared).find((file) => /^000_.*\.txt$/.test(file)) : undefined
  return name === undefined ? undefined : join(shared, name)
}

/** Names of parameters and a slash at the end make no other endpoint. */
function keyOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replace(/\{\w+\}|:\w+/g, '{}').replace(/\/$/, '')}`
}

if (isProgram(import.meta.url)) {
  const { problems, summary } = checkEndpoints()
  for (const problem of problems) console.error(problem)
  console.log(problems.length === 0 ? summary : `${summary}; ${problems.length} differences`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
