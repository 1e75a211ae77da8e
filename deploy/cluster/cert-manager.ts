import { join } from 'node:path'
import { moduleFolder } from '../../tools/go-module.ts'
import { runCommand } from '../../tools/run-command.ts'
import { type Place, start } from './control-plane.ts'
import { provideGoProgram } from './go-program.ts'
import { kubeconfigOf } from './keys.ts'
import { stopProgram } from './program.ts'

const NAME = 'cert-manager'
/** What its controllers of certificates look at; those of ACME have kinds of their own. */
const KINDS = ['certificates', 'certificaterequests', 'issuers', 'clusterissuers']

/** Builds the controllers of cert-manager where they are not there yet, of the version in cert-manager/go.mod, which takes three minutes of a processor; answers their path. */
export function provideCertManager(): Promise<string> {
  return provideGoProgram({ name: NAME, source: join(import.meta.dirname, NAME) })
}

/**
 * Lets a cluster know the kinds of cert-manager, and starts its controllers beside it, as its administrator. There are no webhooks: what the schemas of the
 * kinds let through is taken. The secrets of ClusterIssuers are looked for in the namespace `cert-manager`, which it does not make.
 */
export async function startCertManager(place: Place): Promise<void> {
  const command = await provideCertManager()
  const folder = await moduleFolder('github.com/cert-manager/cert-manager', join(import.meta.dirname, NAME))
  const kubeconfig = kubeconfigOf(place.folder, 'admin')
  const files = KINDS.flatMap((kind) => ['-f', join(folder, 'deploy/crds', `cert-manager.io_${kind}.yaml`)])
  for (const args of [
    ['apply', '--server-side', ...files],
    ['wait', '--for=condition=Established', '--timeout=30s', ...files],
  ]) {
    const { code, output } = await runCommand(join(place.programs, 'kubectl'), args, { KUBECONFIG: kubeconfig, HOME: place.folder })
    if (code !== 0) throw new Error(`kubectl ${args[0]}: ${output}`)
  }
  start(place, { name: NAME, command, args: [`--kubeconfig=${kubeconfig}`] })
}

export function stopCertManager({ folder }: Place): Promise<void> {
  return stopProgram(folder, NAME)
}
