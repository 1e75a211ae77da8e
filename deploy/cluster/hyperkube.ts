import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { BUILT, buildGoProgram, digestOf, type GoProgram } from './go-program.ts'

/** Of Kubernetes; go.mod of hyperkube/ names it, too. */
export const KUBERNETES = 'v1.34.4'

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl']

/**
 * The folder of the servers of Kubernetes; builds them where they are not there yet, or others, which takes ten minutes of a processor or more. Throws
 * what the build said when it failed.
 */
export async function provideHyperkube(): Promise<string> {
  const program: GoProgram = {
    name: 'hyperkube',
    source: join(import.meta.dirname, 'hyperkube'),
    version: KUBERNETES,
    linkerFlags: stamps(),
    announcement: `Kubernetes ${KUBERNETES} is built once: go build …`,
  }
  const folder = join(BUILT, `kubernetes-${KUBERNETES}-${await digestOf(program)}`)
  if (existsSync(join(folder, 'kubectl'))) return folder
  if (!existsSync(join(folder, 'hyperkube'))) await buildGoProgram(program, join(folder, 'hyperkube'))
  for (const name of PROGRAMS) if (!existsSync(join(folder, name))) symlinkSync('hyperkube', join(folder, name))
  return folder
}

/** Without these the server takes itself for v0.0.0, and checks of versions go wrong. */
function stamps(): string[] {
  const names = { 'component-base': ['gitVersion', 'gitMajor', 'gitMinor'], 'client-go/pkg': ['gitVersion'] }
  const values: Record<string, string> = { gitVersion: KUBERNETES, gitMajor: '1', gitMinor: KUBERNETES.split('.')[1] ?? '' }
  return Object.entries(names).flatMap(([module, keys]) => keys.map((key) => `-X k8s.io/${module}/version.${key}=${values[key]}`))
}
