import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { boundaryProblems } from './boundaries.ts'
import { chartDrift } from './chart-documents.ts'
import { type CommandResult, root, runCommand } from './run-command.ts'

/** One thing that must hold of the checkout. It answers with what is wrong, or with why there is nothing to look at. */
export interface Check {
  name: string
  run: () => Promise<{ problem?: string; nothing?: string }>
}

/** How a check ended, with its time. */
export interface CheckResult {
  name: string
  passed: boolean
  /** There was nothing to check: it counts neither way. */
  nothing: boolean
}

/** What `npm run lint` looks at; `npm test` does too. */
export const lintChecks: Check[] = [
  { name: 'proto lint', run: async () => problemOf(await runCommand('buf', ['lint'])) },
  { name: 'types', run: async () => problemOf(await runCommand('tsc', ['-p', '.', '--noEmit', '--pretty', 'false'])) },
  {
    name: 'types of the web pages',
    run: async () => problemOf(await runCommand('tsc', ['-p', 'apps/web', '--noEmit', '--pretty', 'false'])),
  },
  { name: 'style', run: async () => problemOf(await runCommand('biome', ['check', '--error-on-warnings', '--colors=off', '.'])) },
  { name: 'documents of the chart', run: async () => chartProblems() },
  {
    name: 'boundaries',
    run: async () => {
      const problems = await boundaryProblems()
      return problems.length === 0 ? {} : { problem: problems.join('\n') }
    },
  },
]

/** The schema and the README of the chart are what its values say. */
function chartProblems(): { problem?: string } {
  const drift = chartDrift()
  return drift.length === 0 ? {} : { problem: `helm/vitascope: ${drift.join(', ')} not as values.yaml says: npm run generate` }
}

/** What `npm test` looks at besides, before it runs the tests. */
export const contractChecks: Check[] = [
  { name: 'proto breaking', run: breakingProtos },
  { name: 'docs/openapi.json', run: openApiDrift },
  { name: 'docs/endpoints.csv', run: endpointProblems },
]

/** Runs the checks one after another, a line each; the words of those that fail stand below theirs. */
export async function runChecks(checks: readonly Check[]): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const { name, run } of checks) {
    const start = Date.now()
    const { problem, nothing } = await run()
    const time = `${((Date.now() - start) / 1000).toFixed(1)} s`
    const mark = problem !== undefined ? 'failed ' : nothing !== undefined ? 'nothing' : 'passed '
    console.log(`${mark}  ${name} (${nothing ?? time})`)
    if (problem !== undefined) console.log(problem.replaceAll(/^/gm, '         '))
    results.push({ name, passed: problem === undefined, nothing: nothing !== undefined })
  }
  return results
}

/** The contract may grow; what is on the main branch stays as it is. */
async function breakingProtos(): Promise<{ problem?: string; nothing?: string }> {
  if (!existsSync(join(root, '.git'))) return { nothing: 'this is no git checkout' }
  const main = await firstRevision(['refs/heads/main', 'refs/remotes/origin/main'])
  if (main === undefined) return { nothing: 'no commit of the main branch is here to compare with' }
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-proto-'))
  try {
    const archive = join(folder, 'main.tar')
    const { code } = await runCommand('git', ['archive', '--format=tar', '-o', archive, main, 'proto', 'buf.yaml'])
    if (code !== 0) return { nothing: 'the main branch has no protos yet' }
    return problemOf(await runCommand('buf', ['breaking', '--against', archive]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function firstRevision(names: string[]): Promise<string | undefined> {
  for (const name of names) {
    const { code, output } = await runCommand('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
    if (code === 0) return output
  }
  return undefined
}

/** The committed document is what the table of routes makes. */
async function openApiDrift(): Promise<{ problem?: string; nothing?: string }> {
  const maker = 'apps/gateway/src/openapi-file.ts'
  if (!existsSync(join(root, maker))) return { nothing: `there is no ${maker}` }
  return problemOf(await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', maker, '--check']))
}

function problemOf({ code, output }: CommandResult): { problem?: string } {
  return code === 0 ? {} : { problem: output === '' ? `ended with ${code}` : output }
}

/** A process of its own: it reads the table of routes, whose generated code may not have been there when this program began. */
async function endpointProblems(): Promise<{ problem?: string }> {
  return problemOf(await runCommand('node', ['--disable-warning=ExperimentalWarning', 'tools/endpoints-check.ts']))
}
