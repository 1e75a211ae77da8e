import { expect, test } from '@jest/globals'
import { describeChart, find, type Manifest, type PodSpec, readSettings, render, renderError } from './support/chart.ts'

const findTrigger = (manifests: readonly Manifest[]) => {
  const { triggers } = find(manifests, 'ScaledJob', 'worker').spec as { triggers: { metadata: { query: string; threshold: string } }[] }
  return triggers[0]?.metadata
}
const findQuery = (manifests: readonly Manifest[]) => findTrigger(manifests)?.query

describeChart('workers started by KEDA', () => {
  test('KEDA starts workers while tasks wait, and idle workers exit', () => {
    const manifests = render(['keda'])
    const { triggers, minReplicaCount, jobTargetRef } = find(manifests, 'ScaledJob', 'worker').spec as {
      triggers: { type: string; metadata: { query: string; serverAddress: string } }[]
      minReplicaCount: number
      jobTargetRef: { template: { metadata: { labels: Record<string, string> }; spec: PodSpec & { restartPolicy: string } } }
    }
    expect(triggers).toMatchObject([{ type: 'prometheus', metadata: { serverAddress: 'http://prometheus.monitoring:9090' } }])
    expect(triggers[0]?.metadata.query).toContain('vitascope_encoding_queue_depth{namespace="vitascope",kind!~"fetch.*"}')
    // If Kubernetes Jobs encode the chunks, KEDA starts no workers for them.
    const withJobs = render(['keda', 'jobs'])
    expect(JSON.stringify(find(withJobs, 'ScaledJob', 'worker').spec)).toContain(JSON.stringify('kind!~"fetch.*|encode"}))').slice(1, -1))
    expect([minReplicaCount, jobTargetRef.template.spec.restartPolicy]).toEqual([0, 'Never'])
    expect(readSettings(manifests, 'worker')).toMatchObject({ VITASCOPE_WORKER_IDLE_SECONDS: '60' })
    const { podSelector } = find(manifests, 'NetworkPolicy', 'worker').spec as { podSelector: { matchLabels: Record<string, string> } }
    expect(jobTargetRef.template.metadata.labels).toMatchObject(podSelector.matchLabels)
    for (const kind of ['Deployment', 'PodDisruptionBudget', 'HorizontalPodAutoscaler'])
      expect(() => find(manifests, kind, 'worker')).toThrow()
    expect(readSettings(render(['production']), 'worker')).not.toHaveProperty('VITASCOPE_WORKER_IDLE_SECONDS')
  })

  test('workers of a separate release are scaled by the queue in the namespace of encoding', () => {
    const alone = (scaledJob: object) => ({ worker: { scaledJob: { enabled: true, prometheus: 'http://prometheus:9090', ...scaledJob } } })
    const otherNamespace = render(['workers-alone'], alone({ namespace: 'media' }))
    expect(findQuery(otherNamespace)).toContain('vitascope_encoding_queue_depth{namespace="media",')
    expect(renderError(['workers-alone'], alone({}))).toContain('set `worker.scaledJob.namespace` to the namespace of encoding')
    expect(renderError(['keda'], alone({ namespace: 'media' }))).toContain('set `worker.scaledJob.namespace` to ""')
  })

  test('counts tasks, or the seconds of their work and of waiting sources', () => {
    const seconds = { worker: { scaledJob: { metric: 'seconds', secondsPerPod: 900 } } }
    expect(findTrigger(render(['keda']))).toMatchObject({
      query: 'sum(max by (kind, state) (vitascope_encoding_queue_depth{namespace="vitascope",kind!~"fetch.*"}))',
      threshold: '4',
    })
    expect(findTrigger(render(['keda'], seconds))).toMatchObject({
      query: 'sum(max by (kind) (vitascope_encoding_queue_work_seconds{namespace="vitascope"}))',
      threshold: '900',
    })
    // Kubernetes Jobs encode the chunks, of which waiting sources consist.
    expect(findQuery(render(['keda', 'jobs'], seconds))).toBe(
      'sum(max by (kind) (vitascope_encoding_queue_work_seconds{namespace="vitascope",kind!~"source|encode"}))',
    )
    expect(renderError(['keda'], { worker: { scaledJob: { metric: 'jobs' } } })).toContain("at '/worker/scaledJob/metric'")
  })
})
