import type {
  V1LabelSelector,
  V1Namespace,
  V1NetworkPolicy,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1Pod,
} from '@kubernetes/client-node'

/** Input of the rules, as the API server lists it. */
export interface ClusterState {
  namespaces: readonly V1Namespace[]
  pods: readonly V1Pod[]
  policies: readonly V1NetworkPolicy[]
}

type Labels = Record<string, string>
/** Peer part of an nftables rule; empty for all peers. */
interface Peer {
  match: string
  pod?: V1Pod
}

const TABLE = 'vitascope-policies'

/**
 * Returns the policies of a cluster with one node as one nftables table, which replaces the
 * previous one. Each pod that a policy selects has a chain per direction: allowed packets continue,
 * all others are dropped. Replies and probes of the node are always allowed. Named ports are those
 * of the called pod. Pods in the host network are ignored.
 */
export function policyRules({ namespaces, pods, policies }: ClusterState): string {
  const namespaceLabels = new Map(namespaces.map(({ metadata }) => [metadata?.name ?? '', metadata?.labels ?? {}]))
  const alive = pods.filter(
    ({ status, spec }) => status?.podIP !== undefined && !spec?.hostNetwork && !['Succeeded', 'Failed'].includes(status.phase ?? ''),
  )
  const resolvePeers = (peer: V1NetworkPolicyPeer, namespace: string, side: Side): Peer[] => {
    // Pods have IPv4 addresses only.
    if (peer.ipBlock) return peer.ipBlock.cidr.includes(':') ? [] : [{ match: block(peer.ipBlock, side) }]
    return alive
      .filter((pod) =>
        peer.namespaceSelector
          ? selects(peer.namespaceSelector, namespaceLabels.get(getNamespace(pod)) ?? {})
          : getNamespace(pod) === namespace,
      )
      .filter((pod) => selects(peer.podSelector, pod.metadata?.labels ?? {}))
      .map((pod) => ({ match: `ip ${side} ${getAddress(pod)}`, pod }))
  }
  const chains: string[] = []
  const jumps: Record<Direction, string[]> = { ingress: [], egress: [] }
  for (const pod of alive) {
    for (const direction of ['ingress', 'egress'] as const) {
      const own = policies.filter((policy) => appliesToPod(policy, pod) && listTypes(policy).includes(direction))
      if (own.length === 0) continue
      const name = `${direction}_${getAddress(pod).replaceAll('.', '_')}`
      const side: Side = direction === 'ingress' ? 'saddr' : 'daddr'
      const rules = own.flatMap((policy) =>
        listRules(policy, direction).flatMap(({ peers, ports }) => {
          const allowedPeers: Peer[] =
            peers.length === 0 ? [{ match: '' }] : peers.flatMap((peer) => resolvePeers(peer, policy.metadata?.namespace ?? '', side))
          return allowedPeers.flatMap(({ match, pod: peerPod }) =>
            formatPorts(ports, direction === 'ingress' ? pod : peerPod).map(
              (port) => `    ${[match, port, 'return'].filter(Boolean).join(' ')}`,
            ),
          )
        }),
      )
      chains.push(`  chain ${name} {\n${[...new Set(rules), '    counter drop'].join('\n')}\n  }`)
      jumps[direction].push(`${getAddress(pod)} : jump ${name}`)
    }
  }
  return table(chains, jumps)
}

type Direction = 'ingress' | 'egress'
type Side = 'saddr' | 'daddr'

/** Egress rules also apply to connections to the node itself, where the API server runs. */
function table(chains: readonly string[], jumps: Record<Direction, readonly string[]>): string {
  const by = (direction: Direction, side: Side) =>
    jumps[direction].length === 0 ? [] : [`    ip ${side} vmap { ${jumps[direction].join(', ')} }`]
  const hook = (name: string, rules: readonly string[]) => [
    `  chain ${name} {`,
    `    type filter hook ${name} priority -10; policy accept;`,
    '    ct state established,related accept',
    ...rules,
    '  }',
  ]
  return [
    `table ip ${TABLE}`,
    `delete table ip ${TABLE}`,
    `table ip ${TABLE} {`,
    ...chains,
    ...hook('forward', [...by('egress', 'saddr'), ...by('ingress', 'daddr')]),
    ...hook('input', by('egress', 'saddr')),
    '}',
    '',
  ].join('\n')
}

function getNamespace(pod: V1Pod): string {
  return pod.metadata?.namespace ?? ''
}

function getAddress(pod: V1Pod): string {
  return pod.status?.podIP ?? ''
}

function appliesToPod({ metadata, spec }: V1NetworkPolicy, pod: V1Pod): boolean {
  return metadata?.namespace === getNamespace(pod) && selects(spec?.podSelector, pod.metadata?.labels ?? {})
}

/** Returns the policy types. If they are not set, they follow from the rules. */
function listTypes({ spec }: V1NetworkPolicy): Direction[] {
  const types = spec?.policyTypes ?? ['Ingress', ...(spec?.egress ? ['Egress'] : [])]
  return types.map((type) => (type === 'Ingress' ? 'ingress' : 'egress'))
}

function listRules({ spec }: V1NetworkPolicy, direction: Direction): { peers: V1NetworkPolicyPeer[]; ports: V1NetworkPolicyPort[] }[] {
  if (direction === 'ingress') return (spec?.ingress ?? []).map((rule) => ({ peers: rule._from ?? [], ports: rule.ports ?? [] }))
  return (spec?.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports }))
}

function block({ cidr, except = [] }: { cidr: string; except?: string[] }, side: Side): string {
  return [`ip ${side} ${cidr}`, ...(except.length === 0 ? [] : [`ip ${side} != { ${except.join(', ')} }`])].join(' ')
}

function formatPorts(ports: readonly V1NetworkPolicyPort[], called: V1Pod | undefined): string[] {
  if (ports.length === 0) return ['']
  return ports.flatMap(({ port, endPort, protocol = 'TCP' }) => {
    const kind = protocol.toLowerCase()
    if (port === undefined) return [`meta l4proto ${kind}`]
    return resolvePort(port, called).map((number) => `${kind} dport ${number}${endPort === undefined ? '' : `-${endPort}`}`)
  })
}

function resolvePort(port: string | number, called: V1Pod | undefined): number[] {
  if (typeof port === 'number') return [port]
  return (called?.spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.filter(({ name }) => name === port).map(({ containerPort }) => containerPort),
  )
}

/** Returns whether a selector matches. An empty or missing selector matches everything. */
function selects(selector: V1LabelSelector | undefined, labels: Labels): boolean {
  const expressions = selector?.matchExpressions ?? []
  return (
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    expressions.every(({ key, operator, values = [] }) => {
      const value = labels[key]
      if (operator === 'Exists') return value !== undefined
      if (operator === 'DoesNotExist') return value === undefined
      const isAmong = value !== undefined && values.includes(value)
      return operator === 'In' ? isAmong : !isAmong
    })
  )
}
