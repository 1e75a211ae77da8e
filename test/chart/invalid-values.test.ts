// Faults: K1
import { expect, test } from '@jest/globals'
import { components, describeChart, renderError } from './support/chart.ts'

/** Returns values with these settings of the Kubernetes executor. */
const jobsWith = (kubernetes: object) => ({ encoding: { executor: { kubernetes } } })

describeChart('values that cannot work', () => {
  test.each([
    ['an unknown setting', { auth: { replica: 2 } }, "additional properties 'replica' not allowed"],
    ['a text instead of a number', { auth: { replicas: 'two' } }, "at '/auth/replicas'"],
    ['an unknown mode', { tls: { mode: 'maybe' } }, "value must be one of 'certManager', 'secrets', 'none'"],
    ['no memory limit', { auth: { resources: { limits: { memory: null } } } }, "missing property 'memory'"],
    ['an invalid digest', { image: { digest: 'latest' } }, "at '/image/digest'"],
    ['a drain time that is too short', { shutdown: { drainSeconds: 0 } }, "at '/shutdown/drainSeconds'"],
    [
      'an environment variable that is not a setting of Vitascope',
      { auth: { settings: { PATH: '/' } } },
      "at '/auth/settings': additional properties 'PATH' not allowed",
    ],
    [
      'no enabled component',
      Object.fromEntries(components.map((name) => [name, { enabled: false }])),
      'no component is enabled: set `gateway.enabled`',
    ],
    ['no public URL', { publicUrl: '' }, '`publicUrl` is missing: set it to the URL'],
    ['no keys', { secrets: { existingSecret: '' } }, 'set `secrets.existingSecret` to a secret with master-key'],
    ['both existing and generated keys', { secrets: { generate: true } }, 'set `secrets.existingSecret`, or `secrets.generate`, not both'],
    ['no database', { database: { existingSecret: '' } }, 'auth has no database: set `database.existingSecret`'],
    [
      'two databases',
      { database: { cloudNativePg: { cluster: 'videos' } } },
      'set `database.existingSecret` or `database.cloudNativePg.cluster`, not both',
    ],
    [
      'an evaluation database in addition to another',
      { evaluation: { postgres: { enabled: true } } },
      'set `evaluation.postgres.enabled` to false',
    ],
    [
      'a CloudNativePG cluster without a name',
      { database: { existingSecret: '', cloudNativePg: { create: true } } },
      'set `database.cloudNativePg.cluster`',
    ],
    ['a bucket without a name', { storage: { s3: { bucket: '' } } }, '`storage.s3.bucket` is missing: set it, or `storage.kind` to files'],
    [
      'a component without credentials of the bucket',
      { storage: { s3: { existingSecrets: { worker: '' } } } },
      'worker has no keys of the object store: set `storage.s3.existingSecrets.worker`',
    ],
    [
      'keys of the bucket in addition to the identity of pods',
      { storage: { s3: { credentials: 'identity' } } },
      'encoding has keys of the object store and the identity of its pod: set `storage.s3.existingSecrets.encoding` to ""',
    ],
    ['a KMS key without KMS encryption', { storage: { s3: { kmsKey: 'alias/videos' } } }, 'set `storage.s3.encryption` to aws:kms'],
    ['a password in the URL of the proxy', { proxy: { url: 'http://me:secret@proxy:3128' } }, "at '/proxy/url'"],
    [
      'two proxies',
      { proxy: { url: 'http://proxy:3128', existingSecret: 'proxy' } },
      'set `proxy.url` or `proxy.existingSecret`, not both',
    ],
    ['a proxy that network policies deny', { proxy: { url: 'http://proxy:3128' } }, 'set `networkPolicy.peers.proxy`'],
    ['redirects of viewers without a bucket', { storage: { kind: 'files', s3: { redirect: true } } }, 'set `storage.s3.redirect` to false'],
    [
      'a single-node volume for several pods',
      { storage: { kind: 'files', files: { accessMode: 'ReadWriteOnce' } } },
      'set `storage.kind` to s3, or `storage.files.accessMode`',
    ],
    [
      'a called service without an address',
      { auth: { enabled: false } },
      'gateway calls auth, which is not part of this release: set `auth.address`',
    ],
    ['a called service in a blocked namespace', { auth: { enabled: false, address: 'auth:50051' } }, 'set `networkPolicy.otherNamespaces`'],
    ['no certificate', { tls: { mode: 'secrets' } }, 'set `tls.secrets.auth` to a secret'],
    [
      'an autoscaler maximum below its minimum',
      { gateway: { autoscaling: { minReplicas: 5, maxReplicas: 2 } } },
      '`gateway.autoscaling.maxReplicas` is below `minReplicas`: set it to 5',
    ],
    ['a route without a parent', { httpRoute: { enabled: true } }, 'set `httpRoute.parentRefs`'],
    ['an Ingress without a gateway', { gateway: { enabled: false }, web: { enabled: false } }, 'set `gateway.enabled` to true'],
    ['KEDA without Prometheus', { worker: { scaledJob: { enabled: true } } }, 'set `worker.scaledJob.prometheus` to its URL'],
    [
      'two autoscalers of workers',
      { worker: { autoscaling: { enabled: true }, scaledJob: { enabled: true } } },
      'set `worker.autoscaling.enabled` or',
    ],
    [
      'Jobs in the namespace of the services',
      { encoding: { executor: { kind: 'kubernetes' } } },
      'set `encoding.executor.kubernetes.namespace`',
    ],
    [
      'Jobs without keys',
      { encoding: { executor: { kind: 'kubernetes', kubernetes: { namespace: 'encode' } } } },
      'set `encoding.executor.kubernetes.secrets.keys`',
    ],
    ['a negative expiry of Jobs', jobsWith({ ttlSeconds: -5 }), "at '/encoding/executor/kubernetes/ttlSeconds'"],
    ['an expiry of Jobs after years', jobsWith({ ttlSeconds: 99_999_999 }), "at '/encoding/executor/kubernetes/ttlSeconds'"],
    ['a deadline of Jobs below a minute', jobsWith({ deadlineSeconds: 59 }), "at '/encoding/executor/kubernetes/deadlineSeconds'"],
    ['a deadline of Jobs after years', jobsWith({ deadlineSeconds: 99_999_999 }), "at '/encoding/executor/kubernetes/deadlineSeconds'"],
    ['a stall timeout of Jobs above a day', jobsWith({ stallSeconds: 86_401 }), "at '/encoding/executor/kubernetes/stallSeconds'"],
    [
      'Jobs without access to the Kubernetes API',
      { encoding: { executor: { kind: 'kubernetes' } } },
      'set `networkPolicy.peers.kubernetesApi`',
    ],
    [
      'Jobs without S3',
      { storage: { kind: 'files' }, encoding: { executor: { kind: 'kubernetes' } } },
      'Jobs of the Kubernetes executor run on any node and require S3: set `storage.kind` to s3',
    ],
    [
      'an Ingress without trusted proxies',
      { trustedProxies: [] },
      'requests pass a proxy, so that limits and playback policies would see only its address: set `trustedProxies`',
    ],
    ['a trusted proxy that is not a network', { trustedProxies: ['ingress'] }, "at '/trustedProxies/0'"],
    ['an allowed source that is not a network', { sourceAllow: ['bad'] }, "at '/sourceAllow/0'"],
    [
      'metrics that KEDA cannot reach',
      { networkPolicy: { metricsFrom: [] }, worker: { scaledJob: { enabled: true } } },
      'KEDA reads the queue length from Prometheus, but network policies deny Prometheus access to the metrics: set `networkPolicy.metricsFrom`',
    ],
    [
      'encoding without workers',
      { worker: { enabled: false } },
      'encoding has tasks, but this release has no worker: set `worker.enabled`',
    ],
    [
      'a CA of the release with callers of another release',
      { tls: { certManager: { issuer: { name: '' } } }, networkPolicy: { otherNamespaces: ['more'] } },
      'set `tls.certManager.issuer` to an issuer that all releases use',
    ],
    [
      'a single-node volume for workers that KEDA starts',
      { storage: { kind: 'files', files: { accessMode: 'ReadWriteOnce' } }, worker: { replicas: 1, scaledJob: { enabled: true } } },
      'worker has several pods, but the volume of objects can only be mounted on one node',
    ],
    [
      'a scratch volume of workers below the largest source',
      { encoding: { scratch: { size: '200Gi' }, sources: { maxBytes: 107374182400 } }, worker: { scratch: { size: '105Gi' } } },
      'the scratch volume of workers is too small for a source of `encoding.sources.maxBytes`: set `worker.scratch.size` to 106Gi or more',
    ],
    [
      'a scratch volume of Jobs below the largest source',
      { worker: { enabled: false, scratch: { size: '21Gi' } }, encoding: { executor: { kind: 'kubernetes' } } },
      'set `worker.scratch.size` to 22Gi or more',
    ],
    [
      'a scratch volume of encoding below the size of its concurrent sources',
      { encoding: { sources: { parallel: 3 } } },
      'the scratch volume of encoding is too small for 3 concurrent sources of `encoding.sources.maxBytes`: set `encoding.scratch.size` to 60Gi or more',
    ],
    [
      'a storage limit below the scratch volume',
      { worker: { scratch: { size: '300Gi', storageClass: '' } } },
      'set `worker.resources.limits.ephemeral-storage` to more than `worker.scratch.size`, 300Gi',
    ],
    [
      'a disk request above the size of the scratch folder',
      { worker: { scratch: { size: '30Gi', request: '31Gi' } } },
      'set `worker.scratch.request` to at most `worker.scratch.size`, 30Gi',
    ],
    ['an invalid size of a scratch volume', { worker: { scratch: { size: 'much' } } }, "at '/worker/scratch/size'"],
    ['metrics without a network peer', { networkPolicy: { metricsFrom: [] } }, 'set `networkPolicy.metricsFrom`'],
    ['a database without a network peer', { networkPolicy: { peers: { database: [] } } }, 'set `networkPolicy.peers.database`'],
    ['an object store without a network peer', { networkPolicy: { peers: { storage: [] } } }, 'set `networkPolicy.peers.storage`'],
    ['a Sentinel without a port', { redis: { sentinel: { addresses: ['sentinel'] } } }, "at '/redis/sentinel/addresses/0'"],
    [
      'a password of Sentinels without a Sentinel',
      { redis: { sentinel: { existingSecret: 'sentinel' } } },
      'set `redis.sentinel.addresses`',
    ],
    ['a node of a Redis Cluster without a port', { redis: { cluster: { nodes: ['node'] } } }, "at '/redis/cluster/nodes/0'"],
    [
      'Sentinels and a Redis Cluster',
      { redis: { sentinel: { addresses: ['sentinel:26379'] }, cluster: { nodes: ['node:6379'] } } },
      'set `redis.sentinel.addresses` or `redis.cluster.nodes`',
    ],
    [
      'Sentinels without a network peer',
      { redis: { existingSecret: '', sentinel: { addresses: ['sentinel:26379'] } }, networkPolicy: { peers: { redis: [] } } },
      'set `networkPolicy.peers.redis`',
    ],
    ['Redis without a network peer', { networkPolicy: { peers: { redis: [] } } }, 'set `networkPolicy.peers.redis`'],
    ['an identity provider without a network peer', { networkPolicy: { peers: { oidc: [] } } }, 'set `networkPolicy.peers.oidc`'],
    ['traces without a network peer', { tracing: { endpoint: 'http://collector:4318' } }, 'set `networkPolicy.peers.tracing`'],
    ['a receiver of traces without a scheme', { tracing: { endpoint: 'collector:4318' } }, "at '/tracing/endpoint'"],
    ['an identity provider without TLS', { oidc: { issuer: 'http://id.example.org' } }, "at '/oidc/issuer'"],
    ['a mail server without a network peer', { networkPolicy: { peers: { mail: [] } } }, 'set `networkPolicy.peers.mail`'],
  ])('rejects %s', (_, values, message) => {
    expect(renderError(['production'], values)).toContain(message)
  })

  test('rejects a database of one component without a network peer', () => {
    const values = { networkPolicy: { peers: { database: [] } } }
    expect(renderError(['gateway-api'], values)).toContain('set `networkPolicy.peers.database` to the address of the database of catalogue')
    const otherValues = { catalogue: { database: { existingSecret: 'catalogue-database' } } }
    expect(renderError(['cloudnativepg'], otherValues)).toContain(
      'set `networkPolicy.peers.database` to the address of the database of catalogue',
    )
  })

  test('rejects Jobs without the secret with the headers for traces', () => {
    expect(renderError(['jobs'], { encoding: { executor: { kubernetes: { secrets: { tracing: '' } } } } })).toContain(
      'set `encoding.executor.kubernetes.secrets.tracing`',
    )
  })

  test('rejects Jobs without a TLS secret', () => {
    expect(renderError(['jobs'], { tls: { certManager: { issuer: { kind: 'Issuer' } } } })).toContain(
      'set `encoding.executor.kubernetes.secrets.tls`',
    )
  })

  test('reports all errors at once', () => {
    const output = renderError([], {})
    for (const setting of [
      'publicUrl',
      'secrets.existingSecret',
      'database.existingSecret',
      'storage.s3.bucket',
      'networkPolicy.peers.database',
    ])
      expect(output).toContain(`\`${setting}\``)
  })
})
