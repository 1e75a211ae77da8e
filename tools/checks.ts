import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiChangesDrift, breakingApiProblems } from './api-changes.ts'
import { boundaryProblems } from './boundaries.ts'
import { chartDrift } from './chart-documents.ts'
import { documentReferenceProblems } from './document-references.ts'
import { isFaultReferenceCurrent } from './faults/fault-reference.ts'
import { type CommandResult, root, runCommand } from './lib/run-command.ts'
import { linkProblems } from './links.ts'
import { isMetricsReferenceCurrent } from './metrics-reference.ts'
import { openApiProblems } from './openapi-lint.ts'
import { proseProblems } from './prose.ts'
import { versionProblems } from './release/versions.ts'

/** A check of the checkout. It returns the problem, or the reason why it was skipped. */
export interface Check {
  name: string
  run: () => Promise<{ problem?: string; skipped?: string }>
}

/** Result of a check. */
export interface CheckResult {
  name: string
  passed: boolean
  /** True if the check was skipped. It then counts neither as passed nor as failed. */
  skipped: boolean
}

/** Checks of `npm run lint`. `npm test` runs them too. */
export const lintChecks: Check[] = [
  { name: 'proto lint', run: async () => toProblem(await runCommand('buf', ['lint'])) },
  { name: 'types', run: async () => toProblem(await runCommand('tsc', ['-p', '.', '--noEmit', '--pretty', 'false'])) },
  {
    name: 'types of the web pages',
    run: async () => toProblem(await runCommand('tsc', ['-p', 'apps/web', '--noEmit', '--pretty', 'false'])),
  },
  {
    name: 'types of the console',
    run: async () => toProblem(await runCommand('tsc', ['-p', 'apps/console', '--noEmit', '--pretty', 'false'])),
  },
  {
    name: 'types of the documentation site',
    run: async () => toProblem(await runCommand('tsc', ['-p', 'apps/docs', '--noEmit', '--pretty', 'false'])),
  },
  {
    name: 'types of the player package',
    run: async () => toProblem(await runCommand('tsc', ['-p', 'packages/player', '--noEmit', '--pretty', 'false'])),
  },
  {
    name: 'types of the SDK',
    run: async () => toProblem(await runCommand('tsc', ['-p', 'packages/sdk', '--noEmit', '--pretty', 'false'])),
  },
  {
    name: 'types of the command line package',
    run: async () => toProblem(await runCommand('tsc', ['-p', 'packages/cli', '--noEmit', '--pretty', 'false'])),
  },
  { name: 'style', run: async () => toProblem(await runCommand('biome', ['check', '--error-on-warnings', '--colors=off', '.'])) },
  { name: 'documents of the chart', run: async () => chartProblems() },
  {
    name: 'metrics reference',
    run: async () =>
      isMetricsReferenceCurrent() ? {} : { problem: 'docs/reference/metrics.md does not match the source: npm run generate' },
  },
  {
    name: 'fault reference',
    run: async () =>
      isFaultReferenceCurrent() ? {} : { problem: 'docs/reference/faults.md does not match its sources: npm run generate' },
  },
  { name: 'settings reference', run: async () => toProblem(await runNode('tools/settings-reference.ts', '--check')) },
  { name: 'problem reference', run: async () => toProblem(await runNode('tools/problem-reference.ts', '--check')) },
  { name: 'reference of API changes', run: apiChangesDrift },
  { name: 'versions', run: async () => joinProblems(versionProblems(root)) },
  { name: 'prose', run: inCheckout(proseProblems) },
  { name: 'links of documents', run: inCheckout(linkProblems) },
  { name: 'references of documents', run: inCheckout(documentReferenceProblems) },
  { name: 'boundaries', run: async () => joinProblems(await boundaryProblems()) },
]

/** Returns a check that requires the list of files of git. */
function inCheckout(findProblems: () => string[]): Check['run'] {
  return async () => (existsSync(join(root, '.git')) ? joinProblems(findProblems()) : { skipped: 'this is not a git checkout' })
}

function joinProblems(problems: readonly string[]): { problem?: string } {
  return problems.length === 0 ? {} : { problem: problems.join('\n') }
}

/** Checks that the generated files of the chart match its values and deploy/nginx. */
function chartProblems(): { problem?: string } {
  const drift = chartDrift()
  return drift.length === 0
    ? {}
    : { problem: `helm/vitascope: ${drift.join(', ')} does not match values.yaml or deploy/nginx: npm run generate` }
}

/** Additional checks of `npm test`, which run before the tests. */
export const contractChecks: Check[] = [
  { name: 'proto breaking', run: breakingProtos },
  { name: 'docs/openapi.json', run: openApiDrift },
  {
    name: 'docs/openapi.json: Spectral and Redocly',
    run: async () => {
      const problem = await openApiProblems()
      return problem === '' ? {} : { problem }
    },
  },
  { name: 'docs/openapi.json: breaking changes', run: breakingApiProblems },
  { name: 'docs/endpoints.csv', run: endpointProblems },
]

/**
 * Runs the checks one after another, with a line for each. The output of a failed check follows its
 * line.
 */
export async function runChecks(checks: readonly Check[]): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const { name, run } of checks) {
    const start = Date.now()
    const { problem, skipped } = await run()
    const time = `${((Date.now() - start) / 1000).toFixed(1)} s`
    const mark = problem !== undefined ? 'failed ' : skipped !== undefined ? 'skipped' : 'passed '
    console.log(`${mark}  ${name} (${skipped ?? time})`)
    if (problem !== undefined) console.log(problem.replaceAll(/^/gm, '         '))
    results.push({ name, passed: problem === undefined, skipped: skipped !== undefined })
  }
  return results
}

/** Checks that the protos remain compatible with those of the main branch. */
async function breakingProtos(): Promise<{ problem?: string; skipped?: string }> {
  if (!existsSync(join(root, '.git'))) return { skipped: 'this is not a git checkout' }
  const main = await firstRevision(['refs/heads/main', 'refs/remotes/origin/main'])
  if (main === undefined) return { skipped: 'no commit of the main branch is available' }
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-proto-'))
  try {
    const archive = join(folder, 'main.tar')
    const { code } = await runCommand('git', ['archive', '--format=tar', '-o', archive, main, 'proto', 'buf.yaml'])
    if (code !== 0) return { skipped: 'the main branch has no protos yet' }
    return toProblem(await runCommand('buf', ['breaking', '--against', archive]))
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

/** Checks that the committed document matches the route table. */
async function openApiDrift(): Promise<{ problem?: string; skipped?: string }> {
  const maker = 'apps/gateway/src/openapi-file.ts'
  if (!existsSync(join(root, maker))) return { skipped: `there is no ${maker}` }
  return toProblem(await runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', maker, '--check']))
}

function toProblem({ code, output }: CommandResult): { problem?: string } {
  return code === 0 ? {} : { problem: output === '' ? `ended with ${code}` : output }
}

/**
 * Runs in a separate process: the check reads the route table, whose generated code may not have
 * existed when this program started.
 */
async function endpointProblems(): Promise<{ problem?: string }> {
  return toProblem(await runNode('tools/endpoints-check.ts'))
}

function runNode(...args: string[]): Promise<CommandResult> {
  return runCommand('node', ['--disable-warning=ExperimentalWarning', ...args])
}
