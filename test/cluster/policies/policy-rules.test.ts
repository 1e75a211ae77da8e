// Faults: K4
import { expect, test } from '@jest/globals'
import type { V1NetworkPolicy, V1NetworkPolicySpec, V1Pod } from '@kubernetes/client-node'
import { policyRules } from './policy-rules.ts'

const namespaces = ['videos', 'dns'].map((name) => ({ metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } }))
const buildPod = (name: string, podIP: string, fields: { namespace?: string; phase?: string; hostNetwork?: boolean } = {}): V1Pod => ({
  metadata: { name, namespace: fields.namespace ?? 'videos', labels: { app: name } },
  spec: { containers: [{ name: 'c', ports: [{ name: 'grpc', containerPort: 50051 }] }], hostNetwork: fields.hostNetwork ?? false },
  status: { podIP, phase: fields.phase ?? 'Running' },
})
const pods = [buildPod('gateway', '10.0.0.1'), buildPod('auth', '10.0.0.2'), buildPod('names', '10.0.0.3', { namespace: 'dns' })]
const buildPolicy = (spec: V1NetworkPolicySpec): V1NetworkPolicy => ({ metadata: { namespace: 'videos' }, spec })
const selectApp = (app: string) => ({ matchLabels: { app } })
/** Returns the rules of one pod's chain without the final drop. */
function parseChain(rules: string, name: string): string[] | undefined {
  const [, body] = new RegExp(`chain ${name} \\{\\n([\\s\\S]*?)\\n {2}\\}`).exec(rules) ?? []
  const lines = body?.split('\n').map((line) => line.trim())
  if (lines !== undefined) expect(lines.pop()).toBe('counter drop')
  return lines
}

test('pods that no policy selects have no rules', () => {
  const rules = policyRules({ namespaces, pods, policies: [] })
  expect(rules).not.toMatch(/drop|vmap/)
})

test('a policy without rules blocks all traffic of its pods in its policy types', () => {
  const rules = policyRules({
    namespaces,
    pods,
    policies: [buildPolicy({ podSelector: selectApp('auth'), policyTypes: ['Ingress', 'Egress'] })],
  })
  expect(parseChain(rules, 'ingress_10_0_0_2')).toEqual([])
  expect(parseChain(rules, 'egress_10_0_0_2')).toEqual([])
  expect(parseChain(rules, 'ingress_10_0_0_1')).toBeUndefined()
  expect(rules).toContain('ip daddr vmap { 10.0.0.2 : jump ingress_10_0_0_2 }')
})

test.each<[string, V1NetworkPolicySpec, string, string[]]>([
  [
    'pods of the same namespace to a named port',
    {
      podSelector: selectApp('auth'),
      ingress: [{ _from: [{ podSelector: selectApp('gateway') }], ports: [{ port: 'grpc', protocol: 'TCP' }] }],
    },
    'ingress_10_0_0_2',
    ['ip saddr 10.0.0.1 tcp dport 50051 return'],
  ],
  [
    'all peers to a port',
    { podSelector: selectApp('auth'), ingress: [{ ports: [{ port: 8080 }] }] },
    'ingress_10_0_0_2',
    ['tcp dport 8080 return'],
  ],
  ['all peers', { podSelector: selectApp('auth'), ingress: [{}] }, 'ingress_10_0_0_2', ['return']],
  [
    'traffic to pods of another namespace',
    {
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'dns' } }, podSelector: selectApp('names') }],
          ports: [{ port: 53, protocol: 'UDP' }],
        },
      ],
    },
    'egress_10_0_0_1',
    ['ip daddr 10.0.0.3 udp dport 53 return'],
  ],
  [
    'traffic to a range of ports of a network with exceptions',
    {
      podSelector: selectApp('gateway'),
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8', '127.0.0.0/8'] } }, { ipBlock: { cidr: '2000::/3' } }],
          ports: [{ port: 1, endPort: 9 }],
        },
      ],
    },
    'egress_10_0_0_1',
    ['ip daddr 0.0.0.0/0 ip daddr != { 10.0.0.0/8, 127.0.0.0/8 } tcp dport 1-9 return'],
  ],
  [
    'no traffic if the selector matches no pod',
    { podSelector: selectApp('auth'), ingress: [{ _from: [{ podSelector: selectApp('worker') }] }] },
    'ingress_10_0_0_2',
    [],
  ],
  [
    'pods by label expressions',
    {
      podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['auth'] }] },
      ingress: [{ _from: [{ podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['auth'] }] } }] }],
    },
    'ingress_10_0_0_2',
    ['ip saddr 10.0.0.1 return'],
  ],
])('allows %s', (_, spec, chain, expected) => {
  expect(parseChain(policyRules({ namespaces, pods, policies: [buildPolicy(spec)] }), chain)).toEqual(expected)
})

test('ignores pods that have ended, and pods in the network of the node', () => {
  const otherPods = [buildPod('auth', '10.0.0.8', { phase: 'Succeeded' }), buildPod('auth', '10.0.0.9', { hostNetwork: true })]
  const policies = [buildPolicy({ podSelector: selectApp('auth'), ingress: [{ _from: [{ podSelector: selectApp('auth') }] }] })]
  expect(policyRules({ namespaces, pods: [...pods, ...otherPods], policies })).not.toMatch(/10[._]0[._]0[._][89]/)
})
