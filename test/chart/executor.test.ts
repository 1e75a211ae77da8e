// Faults: K3
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { readPodTemplate } from '../../apps/encoding/src/kubernetes/pod-template.ts'
import {
  type Container,
  chart,
  describeChart,
  find,
  findPod,
  helm,
  type Manifest,
  previousChart,
  readSettings,
  render,
  valueSets,
} from './support/chart.ts'

describeChart('the Kubernetes executor', () => {
  let rendered: Manifest[] = []
  const manifests = () => {
    if (rendered.length === 0) rendered = render(['jobs'])
    return rendered
  }
  const template = () => find(manifests(), 'ConfigMap', 'encoding').data?.['pod-template.json'] ?? ''

  test('can create Jobs only in their own namespace, and no other pod has permissions', () => {
    const { rules } = find(manifests(), 'Role', 'encode') as Manifest & { rules: object[] }
    expect(rules).toEqual([
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'watch', 'delete'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: [expect.stringMatching(/^videos-[0-9a-f]{6}-jobs$/)], verbs: ['get'] },
    ])
    const { subjects } = find(manifests(), 'RoleBinding', 'encode') as Manifest & { subjects: object[] }
    expect(subjects).toEqual([{ kind: 'ServiceAccount', name: 'videos-vitascope-encoding', namespace: 'vitascope' }])
    for (const kind of ['Role', 'RoleBinding']) expect(find(manifests(), kind, 'encode').metadata.namespace).toBe('encode')
    const otherManifests = manifests()
      .filter(({ apiVersion }) => apiVersion.startsWith('rbac.'))
      .map(({ kind }) => kind)
    expect(otherManifests.sort()).toEqual(['Role', 'RoleBinding'])
    expect(render(['production']).filter(({ apiVersion }) => apiVersion.startsWith('rbac.'))).toEqual([])
  })

  test('the namespace of the Jobs enforces the restricted standard and a quota', () => {
    expect(find(manifests(), 'Namespace', 'encode').metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    expect(find(manifests(), 'ResourceQuota', 'encode').spec).toEqual({ hard: { 'count/jobs.batch': 100, 'requests.cpu': 64 } })
  })

  test('the namespace of the Jobs is kept when the release is removed, because it contains foreign secrets', () => {
    expect(find(manifests(), 'Namespace', 'encode').metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
  })

  test('the pod of a Job equals that of a worker, with secrets of its namespace and an account without permissions', () => {
    const { spec } = readPodTemplate(template())
    const [pod, worker] = [spec.containers[0], findPod(manifests(), 'worker').containers[0] as Container]
    expect(pod).toMatchObject({
      name: 'worker',
      image: worker.image,
      args: worker.args,
      env: worker.env,
      securityContext: worker.securityContext,
    })
    expect(spec).toMatchObject({
      serviceAccountName: 'videos-vitascope-encode',
      automountServiceAccountToken: false,
      nodeSelector: { kind: 'encoder' },
    })
    const secrets = (spec.volumes ?? []).flatMap(({ secret }) => (secret?.secretName ? [secret.secretName] : []))
    expect(secrets.sort()).toEqual(['encode-keys', 'encode-objects', 'encode-tracing', 'videos-vitascope-encode-tls'])
    expect(find(manifests(), 'ServiceAccount', 'encode')).toMatchObject({
      metadata: { namespace: 'encode' },
      automountServiceAccountToken: false,
    })
    expect(find(manifests(), 'Certificate', 'encode')).toMatchObject({ metadata: { namespace: 'encode' }, spec: { dnsNames: ['worker'] } })
  })

  test('the scratch volume of a Job fits one source and a chunk, not the set of a video', () => {
    const all = render(['jobs'], { worker: { scratch: { storageClass: 'fast' } } })
    const pod = readPodTemplate(find(all, 'ConfigMap', 'encoding').data?.['pod-template.json'] ?? '')
    const scratch = pod.spec.volumes?.find(({ name }) => name === 'scratch')
    expect(scratch?.ephemeral?.volumeClaimTemplate?.spec.resources?.requests).toEqual({ storage: '25Gi' })
  })

  test('an admission policy pins the contents of Jobs', () => {
    const policy = find(manifests(), 'ValidatingAdmissionPolicy', 'encode').spec as {
      failurePolicy: string
      matchConstraints: { namespaceSelector: object; resourceRules: object[] }
      matchConditions: { expression: string }[]
      variables: { name: string; expression: string }[]
      validations: { expression: string; message: string }[]
    }
    expect(policy.failurePolicy).toBe('Fail')
    expect(policy.matchConstraints.namespaceSelector).toEqual({ matchLabels: { 'kubernetes.io/metadata.name': 'encode' } })
    // The policy ignores changes by others: Kueue admits Jobs of the previous release, and another
    // release may have Jobs in the namespace.
    expect(policy.matchConditions.map(({ expression }) => expression)).toEqual([
      'request.userInfo.username == "system:serviceaccount:vitascope:videos-vitascope-encoding"',
    ])
    const expressions = policy.validations.map(({ expression }) => expression).join('\n')
    const worker = findPod(manifests(), 'worker').containers[0] as Container
    for (const text of [worker.image, ...worker.args, 'videos-vitascope-encode', 'encode-keys'])
      expect(expressions).toContain(JSON.stringify(text))
    const pinned = JSON.parse(policy.variables.find(({ name }) => name === 'settings')?.expression ?? '{}')
    expect(pinned).toEqual(Object.fromEntries((worker.env ?? []).map(({ name, value }) => [name, value])))
    expect(find(manifests(), 'ValidatingAdmissionPolicyBinding', 'encode').spec).toMatchObject({ validationActions: ['Deny'] })
  })

  test('pods of Jobs only reach encoding, the object store and the receiver of traces, and encoding also reaches the API server', () => {
    const { egress, policyTypes, ingress, podSelector } = find(manifests(), 'NetworkPolicy', 'encode').spec as {
      egress: { ports?: { port: number }[]; to: { namespaceSelector?: { matchLabels: object }; ipBlock?: object }[] }[]
      policyTypes: string[]
      ingress?: object[]
      podSelector: object
    }
    // Applies to all pods of the namespace: a pod without labels must not have more access.
    expect(podSelector).toEqual({})
    expect([policyTypes, ingress ?? []]).toEqual([['Ingress', 'Egress'], []])
    expect(
      egress.map(({ to, ports }) => to[0]?.ipBlock ?? `${JSON.stringify(to[0]?.namespaceSelector?.matchLabels)} ${ports?.[0]?.port}`),
    ).toEqual([
      '{"kubernetes.io/metadata.name":"kube-system"} 53',
      '{"kubernetes.io/metadata.name":"vitascope"} 50051',
      { cidr: '192.0.2.12/32' },
      '{"kubernetes.io/metadata.name":"monitoring"} 4318',
    ])
    const encoding = JSON.stringify(find(manifests(), 'NetworkPolicy', 'encoding').spec)
    expect(encoding).toContain('"kubernetes.io/metadata.name":"encode"')
    expect(encoding).toContain('192.0.2.1/32')
  })

  test('encoding is configured for the executor, and is replaced when the pod template of its Jobs changes', () => {
    expect(readSettings(manifests(), 'encoding')).toMatchObject({
      VITASCOPE_EXECUTOR: 'kubernetes',
      VITASCOPE_KUBERNETES_NAMESPACE: 'encode',
      VITASCOPE_KUBERNETES_OWNER: find(manifests(), 'ConfigMap', 'encode').metadata.name,
      VITASCOPE_KUBERNETES_INSTANCE: expect.stringMatching(/^videos-[0-9a-f]{6}$/),
      VITASCOPE_KUBERNETES_QUEUE: 'videos',
    })
    const version = (all: Manifest[]) => {
      const { template: pod } = find(all, 'Deployment', 'encoding').spec as {
        template: { metadata: { annotations: Record<string, string> } }
      }
      return pod.metadata.annotations['vitascope/jobs-version']
    }
    expect(version(render(['jobs'], { encodingImage: { tag: 'other' } }))).not.toBe(version(manifests()))
    expect(readSettings(render(['production']), 'encoding')).not.toHaveProperty('VITASCOPE_EXECUTOR')
  })

  test('encoding accepts the longest durations that the values allow', () => {
    const longest = { deadlineSeconds: 2_592_000, ttlSeconds: 2_592_000, stallSeconds: 86_400 }
    expect(readSettings(render(['jobs'], { encoding: { executor: { kubernetes: longest } } }), 'encoding')).toMatchObject({
      VITASCOPE_KUBERNETES_DEADLINE_SECONDS: '2592000',
      VITASCOPE_KUBERNETES_TTL_SECONDS: '2592000',
      VITASCOPE_KUBERNETES_STALL_SECONDS: '86400',
    })
  })

  test('a changed instance name also changes the owner, so that an upgrade removes Jobs of the old instance', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vitascope-values-'))
    // The chart of the previous version has one secret for all components, and no traces.
    const former = join(folder, 'values.yaml')
    const text = readFileSync(valueSets['jobs'] ?? '', 'utf8')
    const withoutTraces = text.replaceAll(/^tracing: .*$|^ +tracing: \[.*$|^ +ports: \{ tracing.*$|, tracing: encode-tracing/gm, '')
    writeFileSync(former, withoutTraces.replace(/existingSecrets: \{[^}]*\}/, 'existingSecret: videos-objects'))
    const names = (of: string, values = valueSets['jobs'] ?? '') => {
      const { out } = helm(['template', 'videos', of, '--namespace', 'vitascope', '--values', values])
      return ['INSTANCE', 'OWNER'].map((name) => new RegExp(`VITASCOPE_KUBERNETES_${name}\\n\\s+value: "(.+)"`).exec(out)?.[1] ?? '')
    }
    const [[instance, owner], [formerInstance, formerOwner]] = [names(chart), names(previousChart, former)]
    rmSync(folder, { recursive: true })
    for (const name of [instance, owner, formerInstance, formerOwner]) expect(name).toMatch(/^videos/)
    expect(owner === formerOwner).toBe(instance === formerInstance)
  })

  test('Jobs of different releases have different names', () => {
    const releases = [
      ['vitascope-production-eu', 'media'],
      ['vitascope-production-us', 'media'],
      ['vitascope', 'media'],
      ['vitascope', 'others'],
      ['2026.video', 'media'],
      ['2026', 'media'],
    ] as const
    const instances = releases.map(([release, namespace]) => {
      const { out, err: output } = helm(['template', release, chart, '--namespace', namespace, '--values', valueSets['jobs'] ?? ''])
      return /VITASCOPE_KUBERNETES_INSTANCE\n\s+value: "(.*)"/.exec(out)?.[1] ?? output
    })
    for (const instance of instances) expect(instance).toMatch(/^[a-z][a-z0-9-]{0,18}[a-z0-9]$/)
    expect(new Set(instances).size).toBe(releases.length)
  })
})
