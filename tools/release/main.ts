import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../lib/run-command.ts'
import { checkSource, tagRelease } from './preconditions.ts'
import { makeRelease } from './release.ts'

const USAGE = `npm run release -- --version X.Y.Z --out DIR [options]

  --version X.Y.Z          version of the release, which package.json must have
  --out DIR                folder of the release, which must be empty or missing
  --sign-key FILE          private key of cosign; its password is in COSIGN_PASSWORD
  --repository PREFIX      prefix of the image names in the chart (vitascope)
  --source URL             public address of the repository, for labels and the chart
  --icon URL               public address of the icon of the chart
  --builder URI            name of this machine or service in the provenance (urn:vitascope:builder:local)
  --mirror URL             Debian mirror or snapshot (the one of this machine)
  --security-mirror URL    the same for security updates
  --tag                    creates the tag vX.Y.Z at the end, unless the commit has it
  --dry-run                only checks whether the checkout can be released`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      version: { type: 'string' },
      out: { type: 'string' },
      'sign-key': { type: 'string' },
      repository: { type: 'string', default: 'vitascope' },
      source: { type: 'string' },
      icon: { type: 'string' },
      builder: { type: 'string', default: 'urn:vitascope:builder:local' },
      mirror: { type: 'string' },
      'security-mirror': { type: 'string' },
      tag: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { version, out, mirror, 'security-mirror': security, 'sign-key': signKey } = values
  if (values.help) return console.log(USAGE)
  if (version === undefined || (out === undefined && !values['dry-run'])) throw new Error(USAGE)
  if ((mirror === undefined) !== (security === undefined)) throw new Error('--mirror and --security-mirror must be set together')
  if (values['dry-run']) {
    const { commit, section } = await checkSource(root, version)
    return console.log(
      `${version} can be released from commit ${commit.slice(0, 12)}. Parts of its changes: ${Object.keys(section.parts).join(', ')}`,
    )
  }
  const start = Date.now()
  const commit = await makeRelease({
    version,
    out: resolve(out ?? ''),
    signKey: signKey === undefined ? undefined : resolve(signKey),
    repository: values.repository,
    source: values.source,
    icon: values.icon,
    builder: values.builder,
    mirrors: mirror === undefined || security === undefined ? undefined : { main: mirror, security, mayBeSnapshot: true },
    report: (line) => console.log(`${((Date.now() - start) / 1000).toFixed(0).padStart(4)} s  ${line}`),
  })
  if (values.tag) {
    const isNew = await tagRelease(root, version, commit)
    console.log(isNew ? `created the tag v${version}` : `the tag v${version} exists at this commit`)
  }
}

try {
  await main()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
