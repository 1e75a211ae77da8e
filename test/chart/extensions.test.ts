// Extensions of the chart: what operators add to pods, objects and policies without a change of the chart.
import { expect, test } from '@jest/globals'
import { describeChart, find, type Manifest, render, renderError, workloads } from './support/chart.ts'

const GATEWAY_API = 'gateway-api'

/** Renders the values with Kubernetes Jobs. `encode` is the pod of a Job. */
const renderWith = (values: object) => render(['jobs'], values)

function findPod(manifests: readonly Manifest[], component: string, kind = 'Deployment') {
  const found = workloads(manifests).find((workload) => workload.component === component && workload.manifest.kind === kind)
  if (!found) throw new Error(`there is no ${kind} of ${component}`)
  return found.pod as typeof found.pod & Record<string, unknown>
}

describeChart('extensions', () => {
  test('annotations and labels are added to every pod, account and object', () => {
    const manifests = renderWith({
      commonLabels: { team: 'video' },
      pods: { annotations: { 'example.org/a': '1' }, labels: { tier: 'media' }, serviceAccountAnnotations: { role: 'reader' } },
      auth: { pod: { serviceAccountAnnotations: { role: 'auth' } } },
    })
    expect(manifests.filter(({ metadata }) => metadata.labels !== undefined && metadata.labels['team'] !== 'video')).toEqual([])
    const templates = manifests.flatMap(({ kind, spec }) =>
      ['Deployment', 'Job', 'StatefulSet'].includes(kind) ? [(spec as { template: Manifest }).template] : [],
    )
    expect(templates.length).toBeGreaterThan(10)
    for (const { metadata } of templates)
      expect(metadata).toMatchObject({ annotations: { 'example.org/a': '1' }, labels: { tier: 'media' } })
    expect(find(manifests, 'ServiceAccount', 'worker').metadata.annotations).toEqual({ role: 'reader' })
    expect(find(manifests, 'ServiceAccount', 'auth').metadata.annotations).toEqual({ role: 'auth' })
  })

  test('a component adds to the lists of all pods, merges maps, and removes an entry by null', () => {
    const manifests = renderWith({
      pods: { nodeSelector: { disk: 'fast', zone: 'a' }, tolerations: [{ key: 'all' }] },
      auth: { pod: { nodeSelector: { zone: null, arch: 'arm64' }, tolerations: [{ key: 'own' }] } },
    })
    expect(findPod(manifests, 'auth')).toMatchObject({
      nodeSelector: { disk: 'fast', arch: 'arm64' },
      tolerations: [{ key: 'all' }, { key: 'own' }],
    })
    expect(findPod(manifests, 'auth').nodeSelector).not.toHaveProperty('zone')
    expect(findPod(manifests, 'catalogue')).toMatchObject({ nodeSelector: { disk: 'fast', zone: 'a' }, tolerations: [{ key: 'all' }] })
  })

  test('the ids of users can be removed, as OpenShift requires, or replaced', () => {
    const manifests = renderWith({
      pods: { securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } },
      worker: { pod: { securityContext: { runAsUser: 1_000_650_000 } } },
    })
    for (const { component, pod } of workloads(manifests)) {
      const ids = component === 'worker' || component === 'encode' ? { runAsUser: 1_000_650_000 } : {}
      expect([component, pod.securityContext]).toEqual([
        component,
        { runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' }, ...ids },
      ])
    }
  })

  test('runtime class, names and variables also apply to Jobs, whose policy allows exactly them', () => {
    const pod = {
      runtimeClassName: 'gvisor',
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['objects.example.org'] }],
      dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
      env: [
        { name: 'TZ', value: 'UTC' },
        { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      ],
    }
    const manifests = renderWith({ worker: { pod } })
    for (const found of [findPod(manifests, 'worker'), findPod(manifests, 'encode', 'ConfigMap')]) {
      const { runtimeClassName, hostAliases, dnsConfig } = found
      expect({ runtimeClassName, hostAliases, dnsConfig }).toEqual({ ...pod, env: undefined })
    }
    const readNames = (found: { containers: { env?: { name: string }[] }[] }) => found.containers[0]?.env?.map(({ name }) => name) ?? []
    expect(readNames(findPod(manifests, 'worker')).slice(-2)).toEqual(['TZ', 'NODE_NAME'])
    expect(readNames(findPod(manifests, 'encode', 'ConfigMap')).at(-1)).toBe('TZ')
    const policy = JSON.stringify(find(manifests, 'ValidatingAdmissionPolicy', 'encode').spec)
    for (const text of ['gvisor', 'objects.example.org', 'ndots', 'TZ']) expect(policy).toContain(text)
    expect(findPod(manifests, 'auth')).not.toHaveProperty('runtimeClassName')
  })

  test('a pod has further volumes, containers that run before and next to that of the component, and other probe times', () => {
    const side = { name: 'proxy', image: 'example.org/proxy:1' }
    const { auth, encode } = ((manifests) => ({ auth: findPod(manifests, 'auth'), encode: findPod(manifests, 'encode', 'ConfigMap') }))(
      renderWith({
        pods: { containers: [side], initContainers: [{ ...side, name: 'wait' }] },
        auth: {
          pod: {
            volumes: [{ name: 'more', emptyDir: {} }],
            volumeMounts: [{ name: 'more', mountPath: '/more' }],
            readinessProbe: { timeoutSeconds: 9 },
          },
        },
      }),
    )
    expect(auth.containers.map(({ name }) => name)).toEqual(['auth', 'proxy'])
    expect(auth.initContainers?.map(({ name }) => name)).toEqual(['wait'])
    expect(auth.volumes.at(-1)).toEqual({ name: 'more', emptyDir: {} })
    expect(auth.containers[0]?.volumeMounts.at(-1)).toEqual({ name: 'more', mountPath: '/more' })
    expect(auth.containers[0]?.readinessProbe).toMatchObject({ timeoutSeconds: 9, periodSeconds: 3 })
    expect([encode.containers.length, encode.initContainers]).toEqual([1, undefined])
  })

  test('the cluster autoscaler may remove a node with the temporary folders of a pod', () => {
    const name = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes'
    const annotations = (manifest: Manifest) => (manifest.spec as { template: Manifest }).template.metadata.annotations?.[name]
    const manifests = render(['nginx-bucket'])
    expect(annotations(find(manifests, 'Deployment', 'auth'))).toBe('tmp')
    expect(annotations(find(manifests, 'Deployment', 'worker'))).toBe('tmp,scratch')
    expect(annotations(find(manifests, 'Deployment', 'delivery'))).toBe('tmp,nginx-tmp,nginx-cache')
  })

  test('the cluster autoscaler does not evict pods whose work would be lost, unless an annotation says so', () => {
    const name = 'cluster-autoscaler.kubernetes.io/safe-to-evict'
    type Template = { metadata: Manifest['metadata'] }
    const readTemplates = (manifests: readonly Manifest[]) =>
      manifests.flatMap(({ kind, data, spec }): [string, Template][] => {
        const fields = spec as {
          template?: Template
          jobTemplate?: { spec: { template: Template } }
          jobTargetRef?: { template: Template }
        }
        const text = data?.['pod-template.json']
        const template = text === undefined ? fields?.template : (JSON.parse(text) as Template)
        const found = fields?.jobTemplate?.spec.template ?? fields?.jobTargetRef?.template ?? template
        return found?.metadata === undefined ? [] : [[kind, found]]
      })
    const values = { backup: { enabled: true, existingClaim: 'backup' }, storage: { s3: { existingSecrets: { backup: 'objects' } } } }
    const keda = { worker: { scaledJob: { enabled: true, prometheus: 'http://prometheus:9090' } } }
    const metrics = { networkPolicy: { metricsFrom: [{ podSelector: {} }] } }
    const templates = readTemplates(render(['jobs'], { ...values, ...keda, ...metrics }))
    const unevictable = ['Job', 'CronJob', 'ScaledJob', 'ConfigMap']
    expect([...new Set(templates.map(([kind]) => kind))].sort()).toEqual([...unevictable, 'Deployment', 'StatefulSet'].sort())
    for (const [kind, { metadata }] of templates)
      expect([kind, metadata.annotations?.[name]]).toEqual([kind, unevictable.includes(kind) ? 'false' : undefined])
    const manifests = render(['jobs'], { worker: { pod: { annotations: { [name]: 'true' } } } })
    const [[, job] = []] = readTemplates(manifests).filter(([kind]) => kind === 'ConfigMap')
    expect(job?.metadata.annotations?.[name]).toBe('true')
    // The admission policy requires the annotation of the template.
    expect(JSON.stringify(find(manifests, 'ValidatingAdmissionPolicy', 'encode').spec)).toContain(
      JSON.stringify(JSON.stringify({ [name]: 'true' }).slice(1, -1)).slice(1, -1),
    )
  })

  test('the Service for clients can be a load balancer, and those between components never are', () => {
    const service = { type: 'LoadBalancer', annotations: { internal: 'yes' }, loadBalancerSourceRanges: ['192.0.2.0/24'] }
    const manifests = render([GATEWAY_API], { gateway: { service } })
    const services = manifests.filter(({ kind, spec }) => kind === 'Service' && spec?.['type'] !== 'ClusterIP')
    expect(services.map(({ metadata, spec }) => [metadata.name, metadata.annotations, spec])).toEqual([
      [
        'videos-vitascope-gateway',
        { internal: 'yes' },
        expect.objectContaining({ type: 'LoadBalancer', externalTrafficPolicy: 'Cluster', loadBalancerSourceRanges: ['192.0.2.0/24'] }),
      ],
    ])
  })

  test('the ports of peers can be limited, and DNS can have another port', () => {
    const { spec } = find(renderWith({ networkPolicy: { ports: { storage: [443], dns: [5353] } } }), 'NetworkPolicy', 'worker')
    const egress = spec?.['egress'] as { ports?: { port: number; protocol: string }[] }[]
    expect(egress[0]?.ports).toEqual([
      { port: 5353, protocol: 'UDP' },
      { port: 5353, protocol: 'TCP' },
    ])
    expect(egress.map(({ ports }) => ports)).toContainEqual([{ port: 443, protocol: 'TCP' }])
  })

  test('further objects are part of the release, with values as templates', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '{{ .Release.Name }}-more' },
      data: { url: '{{ .Values.publicUrl }}' },
    }
    const added = renderWith({ extraObjects: [object] }).find(({ metadata }) => metadata.name === 'videos-more')
    expect(added?.data?.['url']).toMatch(/^https:/)
  })

  test.each([
    ['an unknown key', { auth: { pod: { volume: [] } } }, "additional properties 'volume' not allowed"],
    ['a setting of Vitascope as a variable', { pods: { env: [{ name: 'VITASCOPE_LOG_LEVEL', value: 'debug' }] } }, "at '/pods/env/0/name'"],
    ['a volume without a name', { pods: { volumes: [{ emptyDir: {} }] } }, "missing property 'name'"],
    ['no port of DNS', { networkPolicy: { ports: { dns: [] } } }, "at '/networkPolicy/ports/dns'"],
    ['an object without a kind', { extraObjects: [{ apiVersion: 'v1', metadata: { name: 'a' } }] }, "missing property 'kind'"],
  ])('rejects %s', (_, values, message) => {
    expect(renderError(['jobs'], values)).toContain(message)
  })
})
