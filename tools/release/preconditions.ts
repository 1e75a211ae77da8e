import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../lib/run-command.ts'
import { readSection, type Section } from './changelog.ts'
import { run } from './run.ts'
import { readVersion, VERSION, versionProblems } from './versions.ts'

/** The commit of a release, and its section of the changelog. */
export interface Source {
  commit: string
  time: Date
  section: Section
}

/**
 * Checks that a checkout can be released as a version. Throws one error with all problems: a malformed
 * or different version, uncommitted changes, a tag at another commit, and a missing section of the
 * changelog.
 */
export async function checkSource(root: string, version: string): Promise<Source> {
  if (!VERSION.test(version)) throw new Error(`--version ${version} is not a version such as 1.4.0 or 2.0.0-rc.1`)
  const problems: string[] = []
  if (readVersion(root) !== version)
    problems.push(`package.json has version ${readVersion(root)}: run "npm run set-version -- ${version}" and commit the result`)
  else problems.push(...versionProblems(root))
  const git = (...args: string[]) => run('git', args, {}, root)
  const changed = await git('status', '--porcelain')
  if (changed !== '') problems.push(`files have changes that are not committed:\n${changed.split('\n').slice(0, 10).join('\n')}`)
  const commit = await git('rev-parse', 'HEAD')
  const tagged = await runCommand('git', ['rev-parse', '--verify', '--quiet', `v${version}^{commit}`], {}, root)
  if (tagged.code === 0 && tagged.output !== commit)
    problems.push(`the tag v${version} exists at commit ${tagged.output.slice(0, 12)}: choose a new version, or check out the tag`)
  const section = readReleaseSection(root, version, problems)
  if (section === undefined || problems.length > 0) throw new Error(problems.join('\n'))
  return { commit, time: new Date(Number(await git('log', '-1', '--format=%ct')) * 1000), section }
}

/**
 * Creates the tag of a version at the commit of its release. Returns false if the tag exists, which `checkSource` permits
 * at this commit only.
 */
export async function tagRelease(root: string, version: string, commit: string): Promise<boolean> {
  const tag = `v${version}`
  const { code } = await runCommand('git', ['rev-parse', '--verify', '--quiet', `refs/tags/${tag}`], {}, root)
  if (code === 0) return false
  await run('git', ['tag', '--annotate', tag, '--message', `Vitascope ${version}`, commit], {}, root)
  return true
}

function readReleaseSection(root: string, version: string, problems: string[]): Section | undefined {
  try {
    return readSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  } catch (error) {
    problems.push((error as Error).message)
    return undefined
  }
}
