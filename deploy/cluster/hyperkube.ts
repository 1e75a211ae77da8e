import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root, runCommand } from '../../tools/run-command.ts'

/** Of Kubernetes; go.mod of hyperkube/ names it, too. */
export const KUBERNETES = 'v1.34.4'

const SOURCE = join(import.meta.dirname, 'hyperkube')
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl']

/**
 * The folder of the servers of Kubernetes; builds them where they are not there yet, or others, which takes ten minutes of a processor or more. Throws
 * what the build said when it failed.
 */
export async function provideHyperkube(): Promise<string> {
  const go = await runCommand('go', ['version'])
  if (go.code !== 0) throw new Error('a cluster needs Go 1.24 or newer, to build the servers of Kubernetes')
  const inputs = ['go.mod', 'go.sum', 'main.go'].map((name) => readFileSync(join(SOURCE, name)))
  const digest = createHash('sha256').update(Buffer.concat(inputs)).update(`${KUBERNETES} ${go.output}`).digest('hex').slice(0, 16)
  const folder = join(root, 'node_modules/.cache/vitascope/cluster', `kubernetes-${KUBERNETES}-${digest}`)
  if (existsSync(join(folder, 'kubectl'))) return folder
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'hyperkube'))) await build(join(folder, 'hyperkube'))
  for (const name of PROGRAMS) if (!existsSync(join(folder, name))) symlinkSync('hyperkube', join(folder, name))
  return folder
}

async function build(target: string): Promise<void> {
  console.log(`Kubernetes ${KUBERNETES} is built once: go build …`)
  // Without these the server takes itself for v0.0.0, and checks of versions go wrong.
  const names = { 'component-base': ['gitVersion', 'gitMajor', 'gitMinor'], 'client-go/pkg': ['gitVersion'] }
  const values: Record<string, string> = { gitVersion: KUBERNETES, gitMajor: '1', gitMinor: KUBERNETES.split('.')[1] ?? '' }
  const stamps = Object.entries(names).flatMap(([module, keys]) => keys.map((key) => `-X k8s.io/${module}/version.${key}=${values[key]}`))
  const args = ['build', '-trimpath', '-ldflags', ['-s -w', ...stamps].join(' '), '-o', `${target}.new`, '.']
  const env = { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: [process.env['GOFLAGS'] ?? '', '-buildvcs=false'].join(' ').trim() }
  const { code, output } = await runCommand('go', args, env, SOURCE)
  if (code !== 0) throw new Error(`Kubernetes could not be built:\n${output.split('\n').slice(-10).join('\n')}`)
  chmodSync(`${target}.new`, 0o755)
  renameSync(`${target}.new`, target)
}
