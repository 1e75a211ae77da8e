import { existsSync } from 'node:fs'
import { run, tryRun } from '../run.ts'

/**
 * The cluster has its own network namespace, so that forwarding and filters of the machine do not
 * change. It contains the bridge of the pods with the node's address, and one end of a veth pair
 * whose other end is on the machine. Through it, the machine reaches pods, services and the API.
 * Nothing is routed outside.
 */
export const NETWORK = {
  namespace: 'vitascope',
  link: 'vitascope-h',
  /** Address of the machine as seen by pods. */
  machine: '10.255.0.1',
  /** Address at which the machine reaches the API server. */
  gatewayAddress: '10.255.0.2',
  /** Address of the node on the bridge of its pods. */
  node: '10.244.0.1',
  pods: '10.244.0.0/24',
  services: '10.96.0.0/16',
  names: '10.96.0.10',
} as const

/** Command prefix that runs a program in the namespace. */
export const withinNetwork: readonly string[] = ['nsenter', `--net=/run/netns/${NETWORK.namespace}`]

export async function makeNetwork(): Promise<void> {
  const { namespace, link, machine, gatewayAddress, node, pods, services } = NETWORK
  if (existsSync(`/run/netns/${namespace}`))
    throw new Error('a cluster with a node already runs on this machine; stop it by npm run cluster -- down')
  const [ip, inside] = [(text: string) => run('ip', ...text.split(' ')), (text: string) => run('ip', '-n', namespace, ...text.split(' '))]
  await ip(`netns add ${namespace}`)
  await inside('link set lo up')
  await ip(`link add ${link} type veth peer name up0 netns ${namespace}`)
  await ip(`addr add ${machine}/30 dev ${link}`)
  await ip(`link set ${link} up`)
  await inside(`addr add ${gatewayAddress}/30 dev up0`)
  await inside('link set up0 up')
  await inside('link add cni0 type bridge')
  await inside(`addr add ${node}/24 dev cni0`)
  await inside('link set cni0 up')
  await inside(`route add default via ${machine}`)
  for (const network of [services, pods]) await ip(`route add ${network} via ${gatewayAddress}`)
  const [nsenter = '', ...where] = withinNetwork
  const settings = ['net.ipv4.ip_forward=1', 'net.ipv4.conf.all.route_localnet=1', 'net.bridge.bridge-nf-call-iptables=1']
  await run(nsenter, ...where, 'sysctl', '-qw', ...settings)
}

/** Links and routes are removed with the namespace. */
export async function removeNetwork(): Promise<void> {
  await tryRun('ip', 'netns', 'del', NETWORK.namespace)
  await tryRun('ip', 'link', 'del', NETWORK.link)
}
