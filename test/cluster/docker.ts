import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { failedStart } from './failed-start.ts'
import { ensureGoCommand } from './go-program.ts'
import { provideComposeImages } from './images/images.ts'
import { IMAGE_PACKAGES, providePackages } from './node/packages.ts'
import { startProgram, stopProgram } from './program.ts'
import { run, tryRun } from './run.ts'

/**
 * The daemon has its own network namespace, like the cluster. Its packet filters do not affect the
 * machine, and it has no route to the internet.
 */
export const DOCKER_NETWORK = {
  namespace: 'vitascope-docker',
  link: 'vitascope-d',
  /** Address of the machine as seen by containers. */
  machine: '10.255.1.1',
  /** Address at which the machine reaches published ports. */
  gatewayAddress: '10.255.1.2',
} as const

/** A Docker daemon with its compose plugin. */
export interface DockerDaemon {
  /** Environment that a `docker` command needs to find both. */
  environment: { DOCKER_HOST: string; DOCKER_CONFIG: string }
}

/**
 * Starts a Docker daemon for tests as root, with the images that compose.yaml names: those of this
 * checkout, and replacements of the public ones. Installs Debian's Docker if it is missing, and
 * builds the compose plugin from its module.
 */
export async function startDocker(folder: string): Promise<{ location: DockerDaemon; stop(): Promise<void> }> {
  if (process.getuid?.() !== 0) throw new Error('the Docker daemon for tests requires root')
  await providePackages({ ...IMAGE_PACKAGES, dockerd: 'docker.io', docker: 'docker.io', iptables: 'iptables', ip: 'iproute2' })
  const compose = await ensureGoCommand('docker-compose', 'github.com/docker/compose/v5@v5.0.0', 'cmd')
  // The path of a socket is limited to 107 characters.
  const state = mkdtempSync(join(tmpdir(), 'vsd-'))
  const plugins = join(state, 'config/cli-plugins')
  mkdirSync(plugins, { recursive: true })
  await run('ln', '-s', compose, join(plugins, 'docker-compose'))
  const environment = { DOCKER_HOST: `unix://${state}/sock`, DOCKER_CONFIG: join(state, 'config') }
  const docker = (...args: string[]) =>
    run('env', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`), 'docker', ...args)
  const stop = async () => {
    // The daemon stops its containers.
    await stopProgram(folder, 'dockerd', 60_000)
    await removeNetwork()
    rmSync(state, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
  await makeNetwork()
  try {
    const folders = ['--data-root', join(folder, 'data'), '--exec-root', join(state, 'exec'), '--pidfile', join(state, 'pid')]
    const args = [`--net=/run/netns/${DOCKER_NETWORK.namespace}`, 'dockerd', ...folders, '--host', environment.DOCKER_HOST]
    startProgram(folder, { name: 'dockerd', command: 'nsenter', args })
    for (const end = performance.now() + 60_000; !existsSync(join(state, 'sock')) || !(await isResponding(docker)); await delay(100))
      if (performance.now() > end) throw new Error('the Docker daemon does not respond')
    await provideComposeImages(docker)
    return { location: { environment }, stop }
  } catch (error) {
    throw await failedStart(folder, error, stop)
  }
}

const isResponding = (docker: (...args: string[]) => Promise<string>) =>
  docker('version').then(
    () => true,
    () => false,
  )

async function makeNetwork(): Promise<void> {
  const { namespace, link, machine, gatewayAddress } = DOCKER_NETWORK
  if (existsSync(`/run/netns/${namespace}`))
    throw new Error(`another Docker daemon for tests is running; otherwise remove its namespace: ip netns del ${namespace}`)
  const [ip, inside] = [(text: string) => run('ip', ...text.split(' ')), (text: string) => run('ip', '-n', namespace, ...text.split(' '))]
  await ip(`netns add ${namespace}`)
  await inside('link set lo up')
  await ip(`link add ${link} type veth peer name up0 netns ${namespace}`)
  await ip(`addr add ${machine}/30 dev ${link}`)
  await ip(`link set ${link} up`)
  await inside(`addr add ${gatewayAddress}/30 dev up0`)
  await inside('link set up0 up')
  await inside(`route add default via ${machine}`)
}

/** Links, routes and filters are removed with the namespace. */
async function removeNetwork(): Promise<void> {
  await tryRun('ip', 'netns', 'del', DOCKER_NETWORK.namespace)
  await tryRun('ip', 'link', 'del', DOCKER_NETWORK.link)
}
