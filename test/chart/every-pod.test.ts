// Faults: K2, K5, K6, K7, K13
import { expect, test } from '@jest/globals'
import { chart, describeChart, helm, listContainers, type Manifest, render, valueSets, workloads } from './support/chart.ts'

/** Highest measured memory of each pod, on a node (bench/results/operations.md, Memory of pods) and under load. */
const PEAKS_MIB: Readonly<Record<string, number>> = {
  gateway: 396,
  auth: 95,
  catalogue: 126,
  encoding: 283,
  worker: 262,
  delivery: 130,
  collaboration: 69,
  analytics: 363,
}

const parseBytes = (text = '') => Number.parseFloat(text) * ({ Mi: 2 ** 20, Gi: 2 ** 30 }[text.slice(-2)] ?? Number.NaN)

describeChart.each(Object.entries(valueSets))('with the values %s', (set, file) => {
  const rendered: Manifest[] = []
  const manifests = () => {
    if (rendered.length === 0) rendered.push(...render([set]))
    return rendered
  }

  test('the chart passes helm lint', () => {
    const { code, out, err: output } = helm(['lint', '--strict', '--namespace', 'vitascope', '--values', file, chart])
    expect({ code, out: code === 0 ? '' : out + output }).toEqual({ code: 0, out: '' })
  })

  test('every object has a unique, valid name', () => {
    const names = manifests().map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    for (const { metadata } of manifests()) expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/)
  })

  test('every pod complies with PodSecurity restricted, with a read-only root and no token', () => {
    for (const { component, pod } of workloads(manifests())) {
      expect({ component, ...pod.securityContext }).toMatchObject({
        component,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(Number(pod.securityContext['runAsUser'])).toBeGreaterThanOrEqual(10_000)
      // Only encoding uses the Kubernetes API, to create Jobs.
      const hasToken = ['jobs', 'identity'].includes(set) && component === 'encoding'
      expect([component, pod.enableServiceLinks, pod.automountServiceAccountToken]).toEqual([component, false, hasToken])
      expect(pod.volumes.filter((volume) => 'hostPath' in volume)).toEqual([])
      for (const container of listContainers(pod)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
      }
    }
  })

  test('every container has resource requests, and limits of memory and disk', () => {
    // Requests of a Job's pod depend on its chunks. Encoding adds them.
    for (const { component, pod } of workloads(manifests()).filter((workload) => workload.component !== 'encode')) {
      for (const { name, resources } of listContainers(pod)) {
        expect([component, name, ...Object.keys(resources.requests).sort()]).toEqual([
          component,
          name,
          'cpu',
          'ephemeral-storage',
          'memory',
        ])
        expect([component, name, ...Object.keys(resources.limits).sort()]).toEqual([component, name, 'ephemeral-storage', 'memory'])
      }
    }
  })

  test('every memory limit is at least twice the measured peak', () => {
    const pods = workloads(manifests()).flatMap(({ component, manifest, pod }) => {
      const peak = PEAKS_MIB[component]
      return manifest.kind === 'Job' || peak === undefined ? [] : [{ component, peak, pod }]
    })
    expect(pods).not.toEqual([])
    for (const { component, peak, pod } of pods)
      expect([component, parseBytes(pod.containers[0]?.resources.limits['memory']) >= 2 * peak * 2 ** 20]).toEqual([component, true])
  })

  test('the sizes of the emptyDir volumes are below the ephemeral storage limit', () => {
    for (const { component, pod } of workloads(manifests()).filter((workload) => workload.component !== 'encode')) {
      const limit = pod.containers.reduce((sum, { resources }) => sum + parseBytes(resources.limits['ephemeral-storage']), 0)
      const folders = pod.volumes.flatMap(({ emptyDir }) => (emptyDir ? [parseBytes((emptyDir as { sizeLimit: string }).sizeLimit)] : []))
      expect([component, folders.reduce((sum, size) => sum + size, 0) < limit]).toEqual([component, true])
    }
  })

  test('every pod of a service has probes, drains before it ends, and is replaced without downtime', () => {
    for (const { component, manifest, pod } of workloads(manifests()).filter(
      ({ manifest: { kind } }) => !['Job', 'CronJob', 'ConfigMap', 'Pod'].includes(kind),
    )) {
      const { strategy } = manifest.spec as { strategy?: { rollingUpdate: { maxUnavailable: number } } }
      if (manifest.kind === 'Deployment') expect([component, strategy?.rollingUpdate.maxUnavailable]).toEqual([component, 0])
      for (const { startupProbe, livenessProbe, readinessProbe, lifecycle, env } of pod.containers) {
        expect([component, !startupProbe, !livenessProbe, !readinessProbe]).toEqual([component, false, false, false])
        // Readiness includes dependencies. One that fails must not restart the pod.
        const { httpGet, tcpSocket } = livenessProbe ?? {}
        expect([component, httpGet ?? tcpSocket]).toEqual([component, tcpSocket ?? { path: '/healthz', port: 'metrics' }])
        const seconds = lifecycle?.preStop.sleep.seconds ?? 0
        expect(seconds).toBeGreaterThanOrEqual(5)
        // The final writes and closes take up to five more seconds.
        const drain = Number(env?.find(({ name }) => name === 'VITASCOPE_DRAIN_SECONDS')?.value ?? 0)
        expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds + drain + 5)
      }
    }
  })

  test('secrets are files, and no other place contains their values', () => {
    for (const { pod } of workloads(manifests())) {
      for (const { env = [], envFrom = [] } of listContainers(pod)) {
        expect(envFrom).toEqual([])
        expect(env.filter(({ valueFrom }) => valueFrom !== undefined)).toEqual([])
        for (const { name, value } of env) {
          // The id of a key of KMS is not a secret.
          if (/(?<!_KMS_)KEY|PASSWORD|SECRET|DATABASE_URL|REDIS_URL|SMTP_URL|SOURCE_PROXY/.test(name))
            expect([name, value]).toEqual([name, expect.stringMatching(/^\//)])
        }
      }
    }
    const secrets = manifests().filter(({ kind }) => kind === 'Secret')
    // The name of a login is not a secret.
    const entries = secrets.flatMap(({ data }) => Object.entries(data ?? {}).filter(([name]) => name !== 'username'))
    const values = entries.map(([, value]) => Buffer.from(value, 'base64').toString())
    const otherManifests = JSON.stringify(manifests().filter(({ kind }) => kind !== 'Secret'))
    expect(values.filter((value) => value.length > 0 && otherManifests.includes(value))).toEqual([])
  })

  test('every mounted volume exists, and every volume is mounted', () => {
    for (const { component, pod } of workloads(manifests())) {
      const { volumeClaimTemplates = [] } = (workloads(manifests()).find((workload) => workload.component === component)?.manifest.spec ??
        {}) as {
        volumeClaimTemplates?: { metadata: { name: string } }[]
      }
      const declaredVolumes = [...pod.volumes.map(({ name }) => name), ...volumeClaimTemplates.map(({ metadata }) => metadata.name)].sort()
      const mounted = [...new Set(listContainers(pod).flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)))].sort()
      expect([component, ...mounted]).toEqual([component, ...declaredVolumes])
    }
  })
})
