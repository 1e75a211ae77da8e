// The values of docs/operate/clusters.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { describeChart, type Manifest, render, workloads } from './support/chart.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/operate/clusters.md'), 'utf8')
const sections = page.split(/^## /m)

/** Renders the values in the section of a cluster. */
function renderCluster(name: string): Manifest[] {
  const section = sections.find((text) => text.startsWith(`${name}\n`))
  const [, values] = /```yaml\n(.*?)```/s.exec(section ?? '') ?? []
  if (values === undefined) throw new Error(`there are no values for ${name}`)
  return render([], parse(values) as object)
}

const CLUSTERS = ['k3s', 'EKS', 'GKE', 'AKS', 'OpenShift']

describeChart('values for clusters', () => {
  test('each section with values is tested', () => {
    expect(sections.filter((text) => text.includes('```yaml')).map((text) => text.split('\n', 1)[0])).toEqual(CLUSTERS)
  })

  test.each(CLUSTERS)('%s: viewers reach gateway and delivery from the proxy only, and all pods resolve names', (name) => {
    const manifests = renderCluster(name)
    expect(workloads(manifests).length).toBeGreaterThan(8)
    const routes = manifests.filter(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute')
    expect(routes.length).toBeGreaterThan(0)
    const services = JSON.stringify(routes)
    for (const service of ['gateway', 'delivery-public']) expect(services).toContain(`"videos-vitascope-${service}"`)
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
    const gateway = policies.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'gateway')
    const { ingress = [] } = (gateway?.spec ?? {}) as { ingress?: { from?: unknown[] }[] }
    expect(ingress.length).toBeGreaterThan(0)
    for (const { from } of ingress) expect(from?.length).toBeGreaterThan(0)
    const ports = name === 'OpenShift' ? [5353] : [53]
    for (const { metadata, spec } of policies) {
      const { egress } = spec as { egress?: { ports?: { port: number; protocol: string }[] }[] }
      if (egress === undefined || egress.length === 0) continue
      const open = egress.flatMap((rule) => rule.ports ?? []).filter(({ protocol }) => protocol === 'UDP')
      expect([metadata.name, open.map(({ port }) => port)]).toEqual([metadata.name, ports])
    }
  })

  test('EKS: pods use roles instead of keys, and only HTTPS reaches every address', () => {
    const manifests = renderCluster('EKS')
    const roles = manifests
      .filter(({ kind }) => kind === 'ServiceAccount')
      .flatMap(({ metadata }) => metadata.annotations?.['eks.amazonaws.com/role-arn'] ?? [])
    expect(roles.length).toBeGreaterThan(2)
    expect(JSON.stringify(manifests)).not.toContain('s3-secret')
    const open = manifests
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .flatMap(
        ({ spec }) =>
          (spec as { egress?: { to?: { ipBlock?: { cidr: string; except?: string[] } }[]; ports?: { port: number }[] }[] }).egress ?? [],
      )
      .filter(({ to = [] }) => to.some(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0' && ipBlock.except === undefined))
    expect(open.length).toBeGreaterThan(2)
    for (const { ports } of open) expect(ports?.map(({ port }) => port)).toEqual([443])
  })

  test('GKE: the policies for backends name the Services that viewers reach', () => {
    const manifests = renderCluster('GKE')
    const names = manifests.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name)
    for (const kind of ['GCPBackendPolicy', 'HealthCheckPolicy']) {
      const targets = manifests
        .filter((manifest) => manifest.kind === kind)
        .map(({ spec }) => (spec as { targetRef: { name: string } }).targetRef.name)
      expect(targets).toEqual(['videos-vitascope-gateway', 'videos-vitascope-delivery-public'])
      expect(names).toEqual(expect.arrayContaining(targets))
    }
  })

  test('OpenShift: no pod has an id of a user', () => {
    for (const { component, pod } of workloads(renderCluster('OpenShift'))) {
      expect([component, Object.keys(pod.securityContext).filter((key) => /runAsUser|runAsGroup|fsGroup$/.test(key))]).toEqual([
        component,
        [],
      ])
    }
  })
})
