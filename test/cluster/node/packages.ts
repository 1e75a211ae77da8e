import { runCommand } from '../../../tools/lib/run-command.ts'
import { run } from '../run.ts'

/** Debian packages for building images, by the programs that are searched. */
export const IMAGE_PACKAGES: Readonly<Record<string, string>> = { buildah: 'buildah', mmdebstrap: 'mmdebstrap' }

/** Debian packages of a node. */
export const NODE_PACKAGES: Readonly<Record<string, string>> = {
  ...IMAGE_PACKAGES,
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  ip: 'iproute2',
  nsenter: 'util-linux',
  iptables: 'iptables',
  nft: 'nftables',
  conntrack: 'conntrack',
  openssl: 'openssl',
}

/** Installs missing packages without starting their services. */
export async function providePackages(packages: Readonly<Record<string, string>>): Promise<void> {
  const missing = new Set<string>()
  for (const [program, name] of Object.entries(packages)) {
    const { code } = await runCommand('sh', ['-c', `command -v ${program}`])
    if (code !== 0) missing.add(name)
  }
  if (missing.size === 0) return
  console.log(`Missing: apt-get install ${[...missing].join(' ')} …`)
  const quiet = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  await run('env', ...quiet, 'apt-get', 'update', '-qq')
  await run('env', ...quiet, 'apt-get', 'install', '--yes', '-qq', '--no-install-recommends', ...missing)
}
