import type { KubernetesSettings } from '../src/kubernetes/executor-config.ts'

/** Returns Kubernetes settings as a chart sets them. */
export function kubernetesSettings(overrides: Partial<KubernetesSettings> = {}): KubernetesSettings {
  const container = {
    name: 'worker',
    image: 'vitascope/encoding@sha256:0',
    env: [{ name: 'VITASCOPE_ENCODING_ADDRESS', value: 'encoding:9000' }],
  }
  return {
    namespace: 'media',
    instance: 'vitascope',
    template: { metadata: { labels: { tier: 'work' } }, spec: { serviceAccountName: 'vitascope-chunk', containers: [container] } },
    kubeconfig: undefined,
    owner: undefined,
    queue: undefined,
    parallelism: 4,
    cpu: '1',
    deadlineSeconds: 3_600,
    ttlSeconds: 60,
    stallSeconds: 300,
    ...overrides,
  }
}
