import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { failedStart } from './failed-start.ts'
import { provideGoCommand } from './go-program.ts'
import { provideComposeImages } from './images/images.ts'
import { IMAGE_PACKAGES, providePackages } from './node/packages.ts'
import { startProgram, stopProgram } from './program.ts'
import { run, tryRun } from './run.ts'

/** The network of the daemon is a namespace of its own, as that of a cluster is: its filters are not the machine's, and nothing leads outside. */
export const DOCKER_NETWORK = {
  namespace: 'vitascope-docker',
  link: 'vitascope-d',
  /** Of the machine, as containers see it. */
  machine: '10.255.1.1',
  /** Where the machine finds the ports that containers publish. */
  door: '10.255.1.2',
} as const

/** A Docker daemon and its compose plugin. */
export interface DockerPlace {
  /** What a command of `docker` needs to find both. */
  environment: { DOCKER_HOST: string; DOCKER_CONFIG: string }
}

/**
 * Starts a Docker daemon for tests, as root, with the images that compose.yaml names: those of this checkout, and stand-ins for the public ones. Installs Debian's
 * Docker where there is none, and builds the compose plugin of its module.
 */
export async function startDocker(folder: string): Promise<{ place: DockerPlace; stop(): Promise<void> }> {
  if (process.getuid?.() !== 0) throw new Error('a Docker daemon needs root')
  await providePackages({ ...IMAGE_PACKAGES, dockerd: 'docker.io', docker: 'docker.io', iptables: 'iptables', ip: 'iproute2' })
  const compose = await provideGoCommand('docker-compose', 'github.com/docker/compose/v5@v5.0.0', 'cmd')
  // A socket's path may have 107 characters.
  const state = mkdtempSync(join(tmpdir(), 'vsd-'))
  const plugins = join(state, 'config/cli-plugins')
  mkdirSync(plugins, { recursive: true })
  await run('ln', '-s', compose, join(plugins, 'docker-compose'))
  const environment = { DOCKER_HOST: `unix://${state}/sock`, DOCKER_CONFIG: join(state, 'config') }
  const docker = (...args: string[]) =>
    run('env', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`), 'docker', ...args)
  const stop = async () => {
    // It ends its containers.
    await stopProgram(folder, 'dockerd', 60_000)
    await removeNetwork()
    rmSync(state, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
  await makeNetwork()
  try {
    const own = ['--data-root', join(folder, 'data'), '--exec-root', join(state, 'exec'), '--pidfile', join(state, 'pid')]
    const args = [`--net=/run/netns/${DOCKER_NETWORK.namespace}`, 'dockerd', ...own, '--host', environment.DOCKER_HOST]
    startProgram(folder, { name: 'dockerd', command: 'nsenter', args })
    for (const end = performance.now() + 60_000; !existsSync(join(state, 'sock')) || !(await answers(docker)); await delay(100))
      if (performance.now() > end) throw new Error('the Docker daemon does not answer')
    await provideComposeImages(docker)
    return { place: { environment }, stop }
  } catch (error) {
    throw await failedStart(folder, error, stop)
  }
}

const answers = (docker: (...args: string[]) => Promise<string>) =>
  docker('version').then(
    () => true,
    () => false,
  )

async function makeNetwork(): Promise<void> {
  const { namespace, link, machine, door } = DOCKER_NETWORK
  if (existsSync(`/run/netns/${namespace}`)) throw new Error(`another Docker daemon for tests runs; if not: ip netns del ${namespace}`)
  const [ip, inside] = [(text: string) => run('ip', ...text.split(' ')), (text: string) => run('ip', '-n', namespace, ...text.split(' '))]
  await ip(`netns add ${namespace}`)
  await inside('link set lo up')
  await ip(`link add ${link} type veth peer name up0 netns ${namespace}`)
  await ip(`addr add ${machine}/30 dev ${link}`)
  await ip(`link set ${link} up`)
  await inside(`addr add ${door}/30 dev up0`)
  await inside('link set up0 up')
  await inside(`route add default via ${machine}`)
}

/** Its links, routes and filters go with it. */
async function removeNetwork(): Promise<void> {
  await tryRun('ip', 'netns', 'del', DOCKER_NETWORK.namespace)
  await tryRun('ip', 'link', 'del', DOCKER_NETWORK.link)
}
