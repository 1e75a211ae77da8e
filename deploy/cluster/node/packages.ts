import { runCommand } from '../../../tools/run-command.ts'
import { run } from '../run.ts'

/** By the programs that are looked for. */
const PACKAGES: Record<string, string> = {
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  ip: 'iproute2',
  nsenter: 'util-linux',
  iptables: 'iptables',
  nft: 'nftables',
  conntrack: 'conntrack',
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  openssl: 'openssl',
}

/** Installs what of Debian a node is made of, and starts none of its services. */
export async function providePackages(): Promise<void> {
  const missing = new Set<string>()
  for (const [program, name] of Object.entries(PACKAGES)) {
    const { code } = await runCommand('sh', ['-c', `command -v ${program}`])
    if (code !== 0) missing.add(name)
  }
  if (missing.size === 0) return
  console.log(`Missing: apt-get install ${[...missing].join(' ')} …`)
  const quiet = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  await run('env', ...quiet, 'apt-get', 'update', '-qq')
  await run('env', ...quiet, 'apt-get', 'install', '--yes', '-qq', '--no-install-recommends', ...missing)
}
