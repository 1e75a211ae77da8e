// Faults: K3
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Job, V1JobSpec, V1PodSpec } from '@kubernetes/client-node'
import { readEnvironment } from '@vitascope/config'
import { helmPath, waitFor } from '@vitascope/testing'
import { type KubernetesSettings, readExecutor } from '../../../apps/encoding/src/kubernetes/executor-config.ts'
import { jobManifest } from '../../../apps/encoding/src/kubernetes/job-manifest.ts'
import { type JobsClient, openJobsClient } from '../../../apps/encoding/src/kubernetes/jobs-client.ts'
import { describeChart, find, type Manifest, readSettings, render, valueSets } from '../support/chart.ts'
import { openCluster } from './support/cluster.ts'

jest.setTimeout(300_000)

const cluster = openCluster()
/** API versions of the kinds that are part of Kubernetes. */
const BUILT_IN_API_VERSION =
  /^(v1|(apps|batch|policy)\/v1|autoscaling\/v2|(networking|rbac\.authorization|admissionregistration|scheduling|storage)\.k8s\.io\/v1)$/
const selectBuiltIn = (manifests: readonly Manifest[]) => manifests.filter(({ apiVersion }) => BUILT_IN_API_VERSION.test(apiVersion))
/**
 * Returns a Job with the pod of `helm test`. A pod alone requires its account and its priority class, which a
 * dry run does not create.
 */
const wrapPod = (manifest: Manifest): Manifest =>
  manifest.kind === 'Pod' ? { ...manifest, apiVersion: 'batch/v1', kind: 'Job', spec: { template: { spec: manifest.spec } } } : manifest
const buildNamespace = () => `videos-${randomBytes(4).toString('hex')}`

const buildNodeTerm = (kind: string) => ({ matchExpressions: [{ key: 'kind', operator: 'In', values: [kind] }] })

describeChart(`chart rendered by ${helmPath() ?? 'no helm'}`, () => {
  test.each(Object.keys(valueSets))('the API server accepts all objects of the values %s under strict validation', async (set) => {
    const [platform, jobs] = [buildNamespace(), buildNamespace()]
    for (const name of [platform, jobs]) await cluster.makeNamespace(name)
    const objects = selectBuiltIn(render([set]))
      .filter(({ kind }) => kind !== 'Namespace')
      .map(wrapPod)
    expect(objects.length).toBeGreaterThan(0)
    const placed = objects.map((object) => {
      const isOfJobs = object.metadata.namespace === 'encode'
      return { ...object, metadata: { ...object.metadata, namespace: isOfJobs ? jobs : platform } }
    })
    const dryRun = ['create', '--dry-run=server', '--validate=strict', '-o', 'name', '-f', '-']
    expect(cluster.kubectl(dryRun, placed).trim().split('\n')).toHaveLength(objects.length)
  })

  const [platform, jobs] = [buildNamespace(), buildNamespace()]
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-chart-cluster-'))
  let api: JobsClient
  let settings: KubernetesSettings
  let encoding: string

  /** Placement and priority of the pods of Jobs. */
  const pod = {
    tolerations: [{ key: 'encoders', operator: 'Exists' }],
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: buildNodeTerm('cheap') }] } },
    priorityClassName: 'encoders',
    annotations: { 'example.org/kind': 'encoder' },
    labels: { 'example.org/team': 'media' },
  }
  const worker = { pod, scratch: { storageClass: 'fast' } }
  const release = (overrides: object = {}, parallelism = 8) => {
    const executor = { kubernetes: { namespace: jobs, quota: {}, parallelism } }
    return render(['jobs'], { worker, encoding: { executor }, ...overrides }, ['--namespace', platform])
  }

  beforeAll(async () => {
    const manifests = release()
    await cluster.makeNamespace(platform)
    const kinds = [
      'Namespace',
      'ServiceAccount',
      'Role',
      'RoleBinding',
      'ConfigMap',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
    ]
    const namespaced = (object: Manifest) => ({ ...object, metadata: { namespace: platform, ...object.metadata } })
    const objects = selectBuiltIn(manifests).filter(({ kind }) => kinds.includes(kind))
    cluster.kubectl(
      ['create', '-f', '-'],
      objects.filter(({ kind }) => kind === 'Namespace'),
    )
    cluster.kubectl(['create', '-f', '-'], objects.filter(({ kind }) => kind !== 'Namespace').map(namespaced))
    encoding = await cluster.writeKubeconfig({ namespace: platform, name: 'videos-vitascope-encoding', folder })
    const template = join(folder, 'pod-template.json')
    writeFileSync(template, find(manifests, 'ConfigMap', 'encoding').data?.['pod-template.json'] ?? '')
    const received = readSettings(manifests, 'encoding')
    const reader = readEnvironment({ ...received, VITASCOPE_KUBERNETES_POD_TEMPLATE: template, VITASCOPE_KUBERNETES_CONFIG: encoding })
    const read = readExecutor(reader)
    if (!read) throw new Error('the chart does not name Kubernetes as the executor')
    settings = read
    api = openJobsClient(settings, new AbortController().signal)
    // A policy takes effect a moment after its creation.
    await waitFor(() => renderError((pod) => ({ ...pod, hostNetwork: true })).then((output) => output.includes('devices of the node')), {
      describe: 'the admission policy to take effect',
      timeout: 60_000,
    })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  let next = 1
  const buildJob = (change: (pod: V1PodSpec) => V1PodSpec = (pod) => pod): V1Job => {
    const job = jobManifest(settings, { runId: String(next++), jobId: '12', chunks: [0, 1, 2] }, { memoryMib: 600, diskMib: 900 })
    if (job.spec?.template.spec) job.spec.template.spec = change(job.spec.template.spec)
    return job
  }
  /** Returns the message of the rejection, or an empty text if the Job was created. */
  const rejectedBy = (job: V1Job) =>
    api.create(job).then(
      () => '',
      (error: Error) => error.message,
    )
  const renderError = (change: (pod: V1PodSpec) => V1PodSpec) => rejectedBy(buildJob(change))
  const container = (pod: V1PodSpec, fields: object): V1PodSpec => ({
    ...pod,
    containers: pod.containers.map((one) => ({ ...one, ...fields })),
  })
  const withVolume = (pod: V1PodSpec, fields: object): V1PodSpec => ({
    ...pod,
    volumes: [...(pod.volumes ?? []), { name: 'more', ...fields }],
  })

  const readLimits = (pod: V1PodSpec) => pod.containers[0]?.resources?.limits
  const buildClaim = (fields: object) => ({
    ephemeral: {
      volumeClaimTemplate: {
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } }, ...fields },
      },
    },
  })

  test('the admission policy allows the Job that encoding creates, with its permissions and owner', async () => {
    const owner = await api.owner()
    expect(owner).toMatchObject({ kind: 'ConfigMap', uid: expect.stringMatching(/./) })
    const job = jobManifest(settings, { runId: '1', jobId: '7', chunks: [0, 1] }, { memoryMib: 600, diskMib: 900 }, owner)
    expect(await rejectedBy(job)).toBe('')
    expect((await api.list()).jobs.map(({ metadata }) => metadata?.name)).toContain(job.metadata?.name)
    await api.remove(job)
  })

  test.each<[string, (pod: V1PodSpec) => V1PodSpec]>([
    ['a folder of the node', (pod) => withVolume(pod, { hostPath: { path: '/' } })],
    ['a foreign secret', (pod) => withVolume(pod, { secret: { secretName: 'videos-databases' } })],
    ['another service account', (pod) => ({ ...pod, serviceAccountName: 'default' })],
    ['a service account token', (pod) => ({ ...pod, automountServiceAccountToken: true })],
    ['another image', (pod) => container(pod, { image: 'elsewhere/miner:1' })],
    ['another command', (pod) => container(pod, { command: ['sh'] })],
    ['other arguments', (pod) => container(pod, { args: ['apps/auth/src/main.ts'] })],
    ['an additional variable', (pod) => container(pod, { env: [{ name: 'NODE_OPTIONS', value: '--require=/tmp/x.js' }] })],
    [
      'a variable from a secret',
      (pod) => container(pod, { env: [{ name: 'VITASCOPE_WORKER_JOB', valueFrom: { secretKeyRef: { name: 'k', key: 'k' } } }] }),
    ],
    [
      'a second container',
      (pod) => ({ ...pod, containers: [...pod.containers, ...pod.containers.map((one) => ({ ...one, name: 'two' }))] }),
    ],
    ['an init container', (pod) => ({ ...pod, initContainers: pod.containers.map((one) => ({ ...one, name: 'first' })) })],
    ['an added capability', (pod) => container(pod, { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } })],
    ['root', (pod) => ({ ...pod, securityContext: { ...pod.securityContext, runAsUser: 0, runAsNonRoot: false } })],
    ['the network namespace of the node', (pod) => ({ ...pod, hostNetwork: true })],
    ['the process namespace of the node', (pod) => ({ ...pod, hostPID: true })],
    ['a chosen node', (pod) => ({ ...pod, nodeName: 'control-plane' })],
    ['another node selector', (pod) => ({ ...pod, nodeSelector: { ...pod.nodeSelector, 'node-role.kubernetes.io/control-plane': '' } })],
    ['no node selector', ({ nodeSelector, ...pod }) => pod],
    ['another toleration', (pod) => ({ ...pod, tolerations: [{ operator: 'Exists' }] })],
    [
      'node affinity',
      (pod) => ({
        ...pod,
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [buildNodeTerm('x')] } } },
      }),
    ],
    ['another priority class', (pod) => ({ ...pod, priorityClassName: 'system-node-critical' })],
    ['another runtime class', (pod) => ({ ...pod, runtimeClassName: 'bare' })],
    // An existing volume, such as a folder of a node.
    ['an existing volume', (pod) => withVolume(pod, buildClaim({ volumeName: 'folder-of-a-node' }))],
    ['a copy of another claim', (pod) => withVolume(pod, buildClaim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } }))],
    ['a volume of another storage class', (pod) => withVolume(pod, buildClaim({ storageClassName: 'other' }))],
    ['a volume larger than the scratch volume', (pod) => withVolume(pod, buildClaim({ resources: { requests: { storage: '10Ti' } } }))],
    ['a block device', (pod) => withVolume(pod, buildClaim({ volumeMode: 'Block' }))],
    [
      'a projected service account token',
      (pod) => withVolume(pod, { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }),
    ],
    ['a memory-backed folder', (pod) => withVolume(pod, { emptyDir: { medium: 'Memory' } })],
    ['another scheduler', (pod) => ({ ...pod, schedulerName: 'mine' })],
    ['another DNS server', (pod) => ({ ...pod, dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.66'] } })],
    ['resource claims', (pod) => ({ ...pod, resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] })],
    ['no resource limits', (pod) => container(pod, { resources: {} })],
    ['extended resources', (pod) => container(pod, { resources: { limits: { ...readLimits(pod), 'example.org/gpu': '1' } } })],
    ['a working directory', (pod) => container(pod, { workingDir: '/var/lib/vitascope/scratch' })],
    [
      'a missing variable',
      (pod) => container(pod, { env: pod.containers[0]?.env?.filter(({ name }) => name !== 'VITASCOPE_SIGNING_KEY_FILE') }),
    ],
    [
      'an unconfined seccomp profile',
      (pod) => ({ ...pod, securityContext: { ...pod.securityContext, seccompProfile: { type: 'Unconfined' } } }),
    ],
    ['the root group', (pod) => ({ ...pod, securityContext: { ...pod.securityContext, supplementalGroups: [0] } })],
    ['a grace period of a day', (pod) => ({ ...pod, terminationGracePeriodSeconds: 86_400 })],
  ])('the admission policy rejects a Job with %s', async (_, change) => {
    expect(await renderError(change)).toMatch(/an encoding Job/)
  })

  test('rejects a Job with other labels, or one that bypasses the queue', async () => {
    const label = ({ metadata }: V1Job, labels: object) => Object.assign(metadata?.labels ?? {}, labels)
    const changes: ((job: V1Job) => unknown)[] = [
      ({ spec }) => delete spec?.template.metadata?.labels,
      ({ spec }) => Object.assign(spec?.template.metadata?.labels ?? {}, { 'app.kubernetes.io/instance': 'videos' }),
      (job) => label(job, { 'kueue.x-k8s.io/queue-name': 'others' }),
      (job) => label(job, { 'kueue.x-k8s.io/priority-class': 'first' }),
      ({ metadata }) => delete metadata?.labels?.['kueue.x-k8s.io/queue-name'],
      ({ spec }) => Object.assign(spec ?? {}, { suspend: false }),
      ({ spec }) => Object.assign(spec?.template.metadata?.labels ?? {}, { 'sidecar.istio.io/inject': 'true' }),
      ({ spec }) => Object.assign(spec?.template.metadata ?? {}, { annotations: { 'k8s.v1.cni.cncf.io/networks': 'nodes' } }),
    ]
    for (const change of changes) {
      const job = buildJob()
      change(job)
      expect(await rejectedBy(job)).toMatch(/an encoding Job/)
    }
  })

  test('a Job from before an upgrade can still be admitted with the node placement of Kueue, but its containers are immutable', async () => {
    const job = buildJob()
    expect(await rejectedBy(job)).toBe('')
    const policies = (manifests: Manifest[]) => [find(manifests, 'ValidatingAdmissionPolicy', 'encode')]
    cluster.kubectl(['replace', '-f', '-'], policies(release({ encodingImage: { tag: 'next' } }, 2)))
    await waitFor(() => rejectedBy(buildJob()).then((output) => output.includes('image of the workers')), {
      describe: 'the admission policy of the next release to take effect',
      timeout: 60_000,
    })
    const key = { namespace: jobs, name: job.metadata?.name ?? '' }
    const update = async (change: (spec: V1JobSpec) => unknown) => {
      const body = await cluster.batch.readNamespacedJob(key)
      if (body.spec) change(body.spec)
      return cluster.batch.replaceNamespacedJob({ ...key, body })
    }
    const [worker] = job.spec?.template.spec?.containers ?? []
    for (const fields of [{ image: 'elsewhere/miner:1' }, { args: ['x'] }, { env: [] }])
      await expect(
        update(({ template }) => Object.assign(template.spec ?? {}, { containers: [{ ...worker, ...fields }] })),
      ).rejects.toThrow('field is immutable')
    const nodeSelector = { kind: 'encoder', pool: 'spot' }
    const admitted = await update((spec) => {
      spec.suspend = false
      Object.assign(spec.template.spec ?? {}, { nodeSelector, tolerations: [...pod.tolerations, { key: 'spot', operator: 'Exists' }] })
    })
    expect(admitted.spec).toMatchObject({ suspend: false, parallelism: 3, template: { spec: { nodeSelector } } })
    // In the same namespace, the policy does not apply to other users, such as the administrator here.
    await cluster.batch.createNamespacedJob({
      namespace: jobs,
      body: buildJob((spec) => container(spec, { image: 'of/others:1' })),
      dryRun: 'All',
    })
    await cluster.batch.deleteNamespacedJob({ ...key, propagationPolicy: 'Background' })
    cluster.kubectl(['replace', '-f', '-'], policies(release()))
    await waitFor(() => rejectedBy(buildJob()).then((output) => output === ''), {
      describe: 'the admission policy of the first release to take effect again',
      timeout: 60_000,
    })
  })

  test('rejects a Job without deadline or expiry, or with too many pods', async () => {
    for (const fields of [
      { activeDeadlineSeconds: undefined },
      { activeDeadlineSeconds: 86_401 },
      { ttlSecondsAfterFinished: undefined },
      { ttlSecondsAfterFinished: 3_601 },
      { parallelism: 99 },
      { completions: 9_999 },
    ]) {
      const job = buildJob()
      if (job.spec) Object.assign(job.spec, fields)
      expect(await rejectedBy(job)).toMatch(/an encoding Job/)
    }
  })

  test('encoding has exactly the permissions of the executor, and no other pod has any', async () => {
    const requested = [
      ['create', 'jobs', 'batch'],
      ['delete', 'jobs', 'batch'],
      ['patch', 'jobs', 'batch'],
      ['update', 'jobs', 'batch'],
      ['get', 'secrets', ''],
      ['create', 'pods', ''],
      ['create', 'rolebindings', 'rbac.authorization.k8s.io'],
    ] as const
    const areAllowed = (kubeconfig: string, namespace: string) =>
      Promise.all(requested.map(([verb, resource, group]) => cluster.isAllowed(kubeconfig, { namespace, verb, resource, group })))
    expect(await areAllowed(encoding, jobs)).toEqual([true, true, ...requested.slice(2).map(() => false)])
    expect(await areAllowed(encoding, platform)).toEqual(requested.map(() => false))
    const accounts = await cluster.core.listNamespacedServiceAccount({ namespace: platform })
    const otherAccounts = accounts.items
      .map(({ metadata }) => metadata?.name ?? '')
      .filter((name) => /^videos-/.test(name) && !/encoding$/.test(name))
    expect(otherAccounts.length).toBeGreaterThanOrEqual(7)
    for (const name of otherAccounts) {
      const kubeconfig = await cluster.writeKubeconfig({ namespace: platform, name, folder })
      expect([name, ...(await areAllowed(kubeconfig, jobs)), ...(await areAllowed(kubeconfig, platform))]).toEqual([
        name,
        ...requested.map(() => false),
        ...requested.map(() => false),
      ])
    }
  })
})
