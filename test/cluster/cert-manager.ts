import { join } from 'node:path'
import { moduleFolder } from '../../tools/lib/go-module.ts'
import { runCommand } from '../../tools/lib/run-command.ts'
import { type ClusterLocation, start } from './control-plane.ts'
import { ensureGoProgram } from './go-program.ts'
import { toKubeconfigPath } from './keys.ts'
import { stopProgram } from './program.ts'

const NAME = 'cert-manager'
/** Kinds that the certificate controllers watch. The ACME controllers have their own kinds. */
const KINDS = ['certificates', 'certificaterequests', 'issuers', 'clusterissuers']

/**
 * Builds the controllers of cert-manager, of the version in cert-manager/go.mod, unless they exist.
 * The build uses three minutes of CPU time. Returns their path.
 */
export function provideCertManager(): Promise<string> {
  return ensureGoProgram({ name: NAME, source: join(import.meta.dirname, NAME) })
}

/**
 * Installs the CRDs of cert-manager in a cluster, and starts its controllers next to it as
 * administrator. There are no webhooks: every object that the schemas accept is valid. Secrets of
 * ClusterIssuers are read from the namespace `cert-manager`, which this function does not create.
 */
export async function startCertManager(cluster: ClusterLocation): Promise<void> {
  const command = await provideCertManager()
  const folder = await moduleFolder('github.com/cert-manager/cert-manager', join(import.meta.dirname, NAME))
  const kubeconfig = toKubeconfigPath(cluster.folder, 'admin')
  const files = KINDS.flatMap((kind) => ['-f', join(folder, 'deploy/crds', `cert-manager.io_${kind}.yaml`)])
  for (const args of [
    ['apply', '--server-side', ...files],
    ['wait', '--for=condition=Established', '--timeout=30s', ...files],
  ]) {
    const { code, output } = await runCommand(join(cluster.programs, 'kubectl'), args, { KUBECONFIG: kubeconfig, HOME: cluster.folder })
    if (code !== 0) throw new Error(`kubectl ${args[0]}: ${output}`)
  }
  start(cluster, { name: NAME, command, args: [`--kubeconfig=${kubeconfig}`] })
}

export function stopCertManager({ folder }: ClusterLocation): Promise<void> {
  return stopProgram(folder, NAME)
}
