import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand } from '../../../tools/lib/run-command.ts'
import type { ImageArchive } from '../images/images.ts'
import { startProgram, stopProgram } from '../program.ts'
import { run, tryRun } from '../run.ts'
import { NETWORK, withinNetwork } from './network.ts'

const STATE = '/run/vitascope-cluster'
export const SOCKET = `${STATE}/containerd.sock`
const ctr = ['-a', SOCKET, '-n', 'k8s.io']

export interface ContainerdLocation {
  folder: string
  /** Folder of images and layers; may outlive the cluster. */
  images: string
  /** Image that holds the network namespace of a pod. */
  pause: string
}

/** Starts containerd with the CNI plugins that connect pods to the bridge. */
export async function startContainerd({ folder, images, pause }: ContainerdLocation): Promise<void> {
  const plugins = join(folder, 'cni')
  mkdirSync(plugins, { recursive: true })
  mkdirSync(STATE, { recursive: true })
  mkdirSync(images, { recursive: true })
  writeFileSync(join(plugins, '10-bridge.conflist'), JSON.stringify(buildBridgeConfig(join(folder, 'addresses'))))
  writeFileSync(join(folder, 'containerd.toml'), settings({ images, pause, plugins }))
  const [nsenter = '', ...where] = withinNetwork
  startProgram(folder, {
    name: 'containerd',
    command: nsenter,
    args: [...where, 'containerd', '--config', join(folder, 'containerd.toml')],
  })
  for (let tries = 0; (await runCommand('ctr', [...ctr, 'version'])).code !== 0; tries++) {
    if (tries > 300) throw new Error(`containerd does not respond: see ${folder}/log/containerd.log`)
    await delay(200)
  }
}

/** Imports missing images. Without them, the kubelet would wait for a registry. */
export async function importImages(archives: readonly ImageArchive[]): Promise<void> {
  const imageList = await run('ctr', ...ctr, 'images', 'list')
  const lines = imageList.split('\n').map((line) => line.split(/\s+/))
  for (const { name, digest, file } of archives) {
    if (lines.some(([importedName, , importedDigest]) => importedName === name && importedDigest === digest)) continue
    await run('ctr', ...ctr, 'images', 'import', file)
  }
}

/**
 * Stops all containers, and then containerd. Their network namespaces outlive containerd unless
 * they are removed by name.
 */
export async function stopContainerd(folder: string): Promise<void> {
  if ((await runCommand('ctr', [...ctr, 'version'])).code === 0) {
    const ids = await list('containers', 'list', '-q')
    const networks = new Set<string>()
    for (const id of ids) {
      const [, name] = /\/netns\/(cni-[0-9a-f-]+)/.exec(await run('ctr', ...ctr, 'containers', 'info', id)) ?? []
      if (name !== undefined) networks.add(name)
    }
    for (const id of await list('tasks', 'list', '-q')) await tryRun('ctr', ...ctr, 'tasks', 'kill', '-s', 'KILL', id)
    for (const id of await list('tasks', 'list', '-q')) await tryRun('ctr', ...ctr, 'tasks', 'rm', '-f', id)
    for (const id of ids) await tryRun('ctr', ...ctr, 'containers', 'rm', id)
    for (const name of networks) await tryRun('ip', 'netns', 'del', name)
  }
  await stopProgram(folder, 'containerd')
}

/**
 * Unmounts all mounts of pods and images below these folders, the innermost first. The kubelet also
 * mounts its own folder.
 */
export async function unmountBelow(...folders: string[]): Promise<void> {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((mount) => [...folders, STATE].some((folder) => mount === folder || mount.startsWith(`${folder}/`)))
  for (const mount of mounts.sort().reverse()) await tryRun('umount', '-l', mount)
  if (existsSync(STATE)) rmSync(STATE, { recursive: true, force: true })
}

async function list(...args: string[]): Promise<string[]> {
  return (await run('ctr', ...ctr, ...args)).split('\n').filter((id) => id !== '')
}

function settings({ images, pause, plugins }: { images: string; pause: string; plugins: string }): string {
  return `version = 2
root = "${images}"
state = "${STATE}"
[grpc]
  address = "${SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause}"
  # Without this setting, no container starts on machines where root must not lower the OOM score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${plugins}"
`
}

function buildBridgeConfig(dataDir: string) {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: NETWORK.pods, rangeStart: '10.244.0.10' }]],
    routes: [{ dst: '0.0.0.0/0' }],
    dataDir,
  }
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      { type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true, ipMasq: false, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
}
