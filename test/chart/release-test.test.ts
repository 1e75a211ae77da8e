// Tests the pod that `helm test` starts. e2e/release-test.test.ts tests its program on a platform.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { chart, describeChart, find, findPod, type Manifest, type PodSpec, render, renderError } from './support/chart.ts'

/** Returns the arguments of the test pod: the path of its program and the options. */
const readArgs = (manifests: readonly Manifest[]) => findPod(manifests, 'test').containers[0]?.args ?? []
/** Returns the peer and port of each egress rule of the test pod: `gateway 8080`. A peer is a component, a network or DNS. */
function readEgress(manifests: readonly Manifest[]): string[] {
  const { egress } = find(manifests, 'NetworkPolicy', 'test').spec as {
    egress: {
      ports?: { port: number }[]
      to: { podSelector?: { matchLabels: Record<string, string> }; ipBlock?: { cidr: string } }[]
    }[]
  }
  return egress.map(({ to: [peer], ports: [first] = [] }) => {
    const labels = peer?.podSelector?.matchLabels ?? {}
    return `${labels['app.kubernetes.io/component'] ?? labels['k8s-app'] ?? peer?.ipBlock?.cidr} ${first?.port ?? 'all'}`
  })
}

describeChart('helm test', () => {
  test('runs a program of the image with the addresses of this release and the system key', () => {
    const manifests = render(['production'])
    const { metadata } = find(manifests, 'Pod', 'test')
    expect(metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'before-hook-creation' })
    const [program = '', ...options] = readArgs(manifests)
    expect(existsSync(join(chart, '../..', program))).toBe(true)
    expect(options).toEqual([
      '--url=http://videos-vitascope-gateway.vitascope.svc.cluster.local:8080',
      '--media-url=http://videos-vitascope-delivery-public.vitascope.svc.cluster.local:8082',
      '--key-file=/etc/vitascope/keys/system-key',
      '--organisation=1',
      '--timeout=240',
    ])
    const pod = findPod(manifests, 'test') as PodSpec & { restartPolicy: string; activeDeadlineSeconds: number }
    expect(pod).toMatchObject({ restartPolicy: 'Never', serviceAccountName: 'videos-vitascope-test', activeDeadlineSeconds: 360 })
    expect(pod.containers[0]?.image).toMatch(/^images[.]example[.]org\/vitascope\/server@/)
    expect(pod.volumes.flatMap(({ secret }) => (secret ? [[secret.secretName, secret.items]] : []))).toEqual([
      ['videos-keys', [{ key: 'system-key', path: 'system-key' }]],
    ])
  })

  test('loads media files as viewers do: from delivery, from the gateway, or from the bucket', () => {
    expect(readEgress(render(['gateway-api']))).toEqual(['kube-dns 53', 'delivery 8082', 'gateway 8080'])
    expect(readEgress(render(['production']))).toEqual(['kube-dns 53', 'delivery 8082', 'gateway 8080', '192.0.2.12/32 all'])
    const throughGateway = render(['gateway-api'], { delivery: { direct: false } })
    expect(readEgress(throughGateway)).toEqual(['kube-dns 53', 'gateway 8080'])
    expect(readArgs(throughGateway)).toContain('--media-url=http://videos-vitascope-gateway.vitascope.svc.cluster.local:8080')
  })

  test('accepts other values, and is not part of a release that disables it or has no gateway', () => {
    const values = { organisationId: '7', timeoutSeconds: 600, pod: { annotations: { 'sidecar.istio.io/inject': 'false' } } }
    const manifests = render(['production'], { test: values })
    expect(readArgs(manifests)).toEqual(expect.arrayContaining(['--organisation=7', '--timeout=600']))
    expect(find(manifests, 'Pod', 'test').metadata.annotations).toMatchObject({ 'sidecar.istio.io/inject': 'false' })
    for (const manifestsWithoutTest of [render(['production'], { test: { enabled: false } }), render(['workers-alone'])]) {
      expect(JSON.stringify(manifestsWithoutTest)).not.toContain('release-test')
      expect(JSON.stringify(manifestsWithoutTest)).not.toContain('"app.kubernetes.io/component":"test"')
    }
    expect(renderError(['production'], { test: { organisationId: 'first' } })).toContain("at '/test/organisationId'")
    expect(renderError(['production'], { test: { resources: { requests: { memory: '1Gi' } } } })).toContain(
      'set `test.resources.limits.memory`',
    )
  })
})
