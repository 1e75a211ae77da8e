// node test/cluster/policies/enforcer.ts SERVER TOKEN-FILE AUTHORITY-FILE: enforces the network
// policies of the cluster in whose network namespace it runs, because the bridge plugin does not
// enforce them. It polls twice per second. A new pod is unrestricted until the first poll that
// includes it.
import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { V1Namespace, V1NetworkPolicy, V1Pod } from '@kubernetes/client-node'
import { apiList } from '../api-list.ts'
import { policyRules } from './policy-rules.ts'

const [server = '', tokenFile = '', authorityFile = ''] = process.argv.slice(2)
const list = apiList({ server, tokenFile, authorityFile })

let applied = ''
for (;;) {
  try {
    const [namespaces, pods, policies] = await Promise.all([
      list<V1Namespace>('/api/v1/namespaces'),
      list<V1Pod>('/api/v1/pods'),
      list<V1NetworkPolicy>('/apis/networking.k8s.io/v1/networkpolicies'),
    ])
    // The types of the client name the field `_from`, because `from` is reserved in other
    // languages.
    for (const { spec } of policies)
      for (const rule of spec?.ingress ?? []) Object.assign(rule, { _from: (rule as { from?: unknown }).from })
    const rules = policyRules({ namespaces, pods, policies })
    if (rules !== applied) {
      const { status, stderr } = spawnSync('nft', ['-f', '-'], { input: rules, encoding: 'utf8' })
      if (status !== 0) throw new Error(`nft: ${stderr}`)
      applied = rules
      console.log(`${new Date().toISOString()} ${rules.split('\n').length} lines`)
    }
  } catch (error) {
    // The API server may be down. The last rules stay in force.
    console.error(`${new Date().toISOString()} ${(error as Error).message.slice(0, 500)}`)
  }
  await delay(500)
}
