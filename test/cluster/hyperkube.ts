import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { BUILT, buildGoProgram, computeDigest, type GoProgram } from './go-program.ts'

/** Version of Kubernetes. hyperkube/go.mod names it, too. */
export const KUBERNETES = 'v1.34.4'

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl']

/**
 * Returns the folder of the Kubernetes servers. Builds them if they are missing or outdated, which
 * takes ten minutes of CPU time or more. Throws the output of a failed build.
 */
export async function provideHyperkube(): Promise<string> {
  const program: GoProgram = {
    name: 'hyperkube',
    source: join(import.meta.dirname, 'hyperkube'),
    version: KUBERNETES,
    linkerFlags: buildVersionFlags(),
    announcement: `Kubernetes ${KUBERNETES} is being built: go build …`,
  }
  const folder = join(BUILT, `kubernetes-${KUBERNETES}-${await computeDigest(program)}`)
  if (existsSync(join(folder, 'kubectl'))) return folder
  if (!existsSync(join(folder, 'hyperkube'))) await buildGoProgram(program, join(folder, 'hyperkube'))
  for (const name of PROGRAMS) if (!existsSync(join(folder, name))) symlinkSync('hyperkube', join(folder, name))
  return folder
}

/** Version stamps. Without them the server reports v0.0.0, and version checks fail. */
function buildVersionFlags(): string[] {
  const names = { 'component-base': ['gitVersion', 'gitMajor', 'gitMinor'], 'client-go/pkg': ['gitVersion'] }
  const values: Record<string, string> = { gitVersion: KUBERNETES, gitMajor: '1', gitMinor: KUBERNETES.split('.')[1] ?? '' }
  return Object.entries(names).flatMap(([module, keys]) => keys.map((key) => `-X k8s.io/${module}/version.${key}=${values[key]}`))
}
