import { expect, test } from '@jest/globals'
import { components, describeChart, refusalOf } from './support/chart.ts'

const jobsWith = (kubernetes: object) => ({ encoding: { executor: { kubernetes } } })

describeChart('values that cannot work are refused with what to set', () => {
  test.each([
    ['a setting that is none', { auth: { replica: 2 } }, "additional properties 'replica' not allowed"],
    ['a word for a number', { auth: { replicas: 'two' } }, "at '/auth/replicas'"],
    ['a mode that is none', { tls: { mode: 'maybe' } }, "value must be one of 'certManager', 'secrets', 'none'"],
    ['no limit of memory', { auth: { resources: { limits: { memory: null } } } }, "missing property 'memory'"],
    ['a digest that is none', { image: { digest: 'latest' } }, "at '/image/digest'"],
    ['a time to drain that is too short', { shutdown: { drainSeconds: 0 } }, "at '/shutdown/drainSeconds'"],
    [
      'a setting of no name of ours',
      { auth: { settings: { PATH: '/' } } },
      "at '/auth/settings': additional properties 'PATH' not allowed",
    ],
    [
      'no component',
      Object.fromEntries(components.map((name) => [name, { enabled: false }])),
      'no component is enabled: set `gateway.enabled`',
    ],
    ['no address for viewers', { publicUrl: '' }, '`publicUrl` is missing: set it to the URL'],
    ['no keys', { secrets: { existingSecret: '' } }, 'set `secrets.existingSecret` to a secret with master-key'],
    ['keys given and made', { secrets: { generate: true } }, 'set `secrets.existingSecret`, or `secrets.generate`, not both'],
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
      'a cluster without a name',
      { database: { existingSecret: '', cloudNativePg: { create: true } } },
      'set `database.cloudNativePg.cluster`',
    ],
    ['a bucket without a name', { storage: { s3: { bucket: '' } } }, '`storage.s3.bucket` is missing: set it, or `storage.kind` to files'],
    [
      'a component without keys of the bucket',
      { storage: { s3: { existingSecrets: { worker: '' } } } },
      'worker has no keys of the object store: set `storage.s3.existingSecrets.worker`',
    ],
    ['leading viewers to a folder', { storage: { kind: 'files', s3: { redirect: true } } }, 'set `storage.s3.redirect` to false'],
    [
      'a volume of one node for many pods',
      { storage: { kind: 'files', files: { accessMode: 'ReadWriteOnce' } } },
      'set `storage.kind` to s3, or `storage.files.accessMode`',
    ],
    [
      'a neighbour that is nowhere',
      { auth: { enabled: false } },
      'gateway calls auth, which is not part of this release: set `auth.address`',
    ],
    ['a neighbour behind a closed network', { auth: { enabled: false, address: 'auth:50051' } }, 'set `networkPolicy.otherNamespaces`'],
    ['no certificate', { tls: { mode: 'secrets' } }, 'set `tls.secrets.auth` to a secret'],
    [
      'a scaler upside down',
      { gateway: { autoscaling: { minReplicas: 5, maxReplicas: 2 } } },
      '`gateway.autoscaling.maxReplicas` is below `minReplicas`: set it to 5',
    ],
    ['a route that hangs on nothing', { httpRoute: { enabled: true } }, 'set `httpRoute.parentRefs`'],
    ['an ingress without a gateway', { gateway: { enabled: false }, web: { enabled: false } }, 'set `gateway.enabled` to true'],
    ['KEDA without Prometheus', { worker: { scaledJob: { enabled: true } } }, 'set `worker.scaledJob.prometheus` to its URL'],
    [
      'workers that are scaled twice',
      { worker: { autoscaling: { enabled: true }, scaledJob: { enabled: true } } },
      'set `worker.autoscaling.enabled` or',
    ],
    ['Jobs beside the services', { encoding: { executor: { kind: 'kubernetes' } } }, 'set `encoding.executor.kubernetes.namespace`'],
    [
      'Jobs without keys',
      { encoding: { executor: { kind: 'kubernetes', kubernetes: { namespace: 'encode' } } } },
      'set `encoding.executor.kubernetes.secrets.keys`',
    ],
    ['Jobs that are kept for a time before their end', jobsWith({ ttlSeconds: -5 }), "at '/encoding/executor/kubernetes/ttlSeconds'"],
    ['Jobs that are kept for years', jobsWith({ ttlSeconds: 99_999_999 }), "at '/encoding/executor/kubernetes/ttlSeconds'"],
    ['Jobs that have no time', jobsWith({ deadlineSeconds: 59 }), "at '/encoding/executor/kubernetes/deadlineSeconds'"],
    ['Jobs that have years', jobsWith({ deadlineSeconds: 99_999_999 }), "at '/encoding/executor/kubernetes/deadlineSeconds'"],
    ['Jobs that may be silent for days', jobsWith({ stallSeconds: 86_401 }), "at '/encoding/executor/kubernetes/stallSeconds'"],
    ['Jobs without an API', { encoding: { executor: { kind: 'kubernetes' } } }, 'set `networkPolicy.peers.kubernetesApi`'],
    [
      'Jobs without S3',
      { storage: { kind: 'files' }, encoding: { executor: { kind: 'kubernetes' } } },
      'Jobs of the Kubernetes executor run on any node and require S3: set `storage.kind` to s3',
    ],
    [
      'a proxy whose word does not count',
      { trustedProxies: [] },
      'requests pass a proxy, so that limits and playback policies would see only its address: set `trustedProxies`',
    ],
    ['a proxy that is no network', { trustedProxies: ['ingress'] }, "at '/trustedProxies/0'"],
    ['a source that is no network', { sourceAllow: ['bad'] }, "at '/sourceAllow/0'"],
    [
      'KEDA behind a closed network',
      { networkPolicy: { metricsFrom: [] }, worker: { scaledJob: { enabled: true } } },
      'KEDA reads the queue length from Prometheus, but network policies deny Prometheus access to the metrics: set `networkPolicy.metricsFrom`',
    ],
    ['nobody who works', { worker: { enabled: false } }, 'encoding has tasks, but this release has no worker: set `worker.enabled`'],
    [
      'an authority of its own between two releases',
      { tls: { certManager: { issuer: { name: '' } } }, networkPolicy: { otherNamespaces: ['more'] } },
      'set `tls.certManager.issuer` to an issuer that all releases use',
    ],
    [
      'a volume of one node for workers that KEDA starts',
      { storage: { kind: 'files', files: { accessMode: 'ReadWriteOnce' } }, worker: { replicas: 1, scaledJob: { enabled: true } } },
      'worker has several pods, but the volume of objects can only be mounted on one node',
    ],
    [
      'a scratch of workers below the largest source',
      { encoding: { scratch: { size: '200Gi' }, sources: { maxBytes: 107374182400 } }, worker: { scratch: { size: '105Gi' } } },
      'the scratch volume of workers is too small for a source of `encoding.sources.maxBytes`: set `worker.scratch.size` to 106Gi or more',
    ],
    [
      'a scratch of Jobs below the largest source',
      { worker: { enabled: false, scratch: { size: '21Gi' } }, encoding: { executor: { kind: 'kubernetes' } } },
      'set `worker.scratch.size` to 22Gi or more',
    ],
    [
      'a scratch of encoding below what comes in at once',
      { encoding: { sources: { parallel: 3 } } },
      'the scratch volume of encoding is too small for 3 concurrent sources of `encoding.sources.maxBytes`: set `encoding.scratch.size` to 60Gi or more',
    ],
    [
      'a limit below the scratch',
      { worker: { scratch: { size: '300Gi', storageClass: '' } } },
      'set `worker.resources.limits.ephemeral-storage` to more than `worker.scratch.size`, 300Gi',
    ],
    ['a scratch of no size', { worker: { scratch: { size: 'much' } } }, "at '/worker/scratch/size'"],
    ['metrics behind a closed network', { networkPolicy: { metricsFrom: [] } }, 'set `networkPolicy.metricsFrom`'],
    ['a database behind a closed network', { networkPolicy: { peers: { database: [] } } }, 'set `networkPolicy.peers.database`'],
    ['an object store behind a closed network', { networkPolicy: { peers: { storage: [] } } }, 'set `networkPolicy.peers.storage`'],
    ['Redis behind a closed network', { networkPolicy: { peers: { redis: [] } } }, 'set `networkPolicy.peers.redis`'],
    ['a mail server behind a closed network', { networkPolicy: { peers: { mail: [] } } }, 'set `networkPolicy.peers.mail`'],
  ])('%s', (_, values, sentence) => {
    expect(refusalOf(['production'], values)).toContain(sentence)
  })

  test('a database of its own behind a closed network', () => {
    const values = { networkPolicy: { peers: { database: [] } } }
    expect(refusalOf(['gateway-api'], values)).toContain('set `networkPolicy.peers.database` to the address of the database of catalogue')
    const others = { catalogue: { database: { existingSecret: 'catalogue-database' } } }
    expect(refusalOf(['cloudnativepg'], others)).toContain('set `networkPolicy.peers.database` to the address of the database of catalogue')
  })

  test('Jobs without a certificate', () => {
    expect(refusalOf(['jobs'], { tls: { certManager: { issuer: { kind: 'Issuer' } } } })).toContain(
      'set `encoding.executor.kubernetes.secrets.tls`',
    )
  })

  test('all errors are reported at once', () => {
    const output = refusalOf([], {})
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
