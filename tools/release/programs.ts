import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { quickGoBuild } from '../lib/go-build.ts'
import { root } from '../lib/run-command.ts'
import { provideHelm } from '../lib/test-programs.ts'
import { run } from './run.ts'

/** Programs of a release that Go builds. The names of their folders contain the versions. */
const MODULES = {
  crane: 'github.com/google/go-containerregistry/cmd/crane@v0.22.1',
  cosign: 'github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3',
  oras: 'oras.land/oras/cmd/oras@v1.3.6',
} as const

/** Paths of the programs that make a release. */
export type Programs = Record<keyof typeof MODULES | 'helm', string>

/**
 * Returns the programs of a release, and builds the missing ones in the cache folder of the checkout.
 * Go verifies the checksums of their modules. The first build of cosign takes minutes.
 */
export async function providePrograms(report: (line: string) => void): Promise<Programs> {
  const programs: Partial<Programs> = {}
  for (const [name, module] of Object.entries(MODULES) as [keyof typeof MODULES, string][]) {
    const folder = join(root, '.cache/vitascope/release', module.slice(module.lastIndexOf('/') + 1))
    programs[name] = join(folder, name)
    if (existsSync(programs[name])) continue
    report(`building ${name}: go install ${module} …`)
    await run('go', ['install', ...quickGoBuild(), module], { GOBIN: folder, CGO_ENABLED: '0' })
  }
  const helm = await provideHelm()
  if (helm === undefined) throw new Error('Helm is missing, and npm could not provide it: install Helm')
  return { ...(programs as Omit<Programs, 'helm'>), helm }
}
