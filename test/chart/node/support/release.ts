import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@vitascope/testing'
import { type Api, createApi } from '../../../../e2e/support/api.ts'
import { IMAGES } from '../../../cluster/images/images.ts'
import { NETWORK } from '../../../cluster/node/network.ts'
import { chart, components } from '../../support/chart.ts'
import { type CertificateFiles, issueCertificates } from './certificates.ts'
import { apply, helm, kubectl } from './commands.ts'
import { buildNetworkPeers, buildOutsideServices, OUTSIDE, STORE } from './outside.ts'

/** An installed release whose gateway responds. */
export interface Release {
  namespace: string
  /** URL of the gateway Service for the tests. */
  url: string
  /** Client with the first API key. */
  system: Api
  withKey(key: string): Api
  /** Changes values like `helm upgrade`, and waits until it is complete. */
  upgrade(values: object): Promise<void>
  /**
   * Upgrades to another chart with the values of the install, and with the images of this checkout
   * or with `images`.
   */
  upgradeTo(chart: string, images?: Images): Promise<void>
}

export const NAMESPACE = 'videos'
/** Component name of the pods of Jobs. */
export const ENCODE = 'encode'
const RELEASE = 'videos'
const splitImageName = (image: string) => ({
  repository: image.slice(0, image.lastIndexOf(':')),
  tag: image.slice(image.lastIndexOf(':') + 1),
  pullPolicy: 'Never',
})

/** Image values of the chart. */
export type Images = ReturnType<typeof buildImageValues>
export const buildImageValues = ({ server, encoding }: { server: string; encoding: string }) => ({
  image: splitImageName(server),
  encodingImage: splitImageName(encoding),
})

/** Images of this checkout. */
export const imageValues = buildImageValues(IMAGES)

/** Returns a namespace that enforces the restricted standard. */
export function restricted(name: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

/**
 * Returns a Service with a known address. A Service of the chart cannot have one, and the public
 * URL contains it.
 */
export function fixedService(namespace: string, instance: string, clusterIP: string): object {
  const selector = { 'app.kubernetes.io/instance': instance, 'app.kubernetes.io/component': 'gateway' }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'fixed', namespace },
    spec: { clusterIP, selector, ports: [{ port: 80, targetPort: 'http' }] },
  }
}

/** Installs or upgrades a release, and waits until its pods are ready. */
export async function install({
  release,
  namespace,
  values,
  from = chart,
}: {
  release: string
  namespace: string
  values: readonly object[]
  from?: string
}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-values-'))
  try {
    const files: string[] = []
    for (const [index, value] of values.entries()) {
      const file = join(folder, `${index}.json`)
      await writeFile(file, JSON.stringify(value))
      files.push('--values', file)
    }
    await helm('upgrade', '--install', release, from, '--namespace', namespace, ...files, '--wait', '--timeout', '15m')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Returns a small production-like release: two gateways, mutual TLS, PostgreSQL, Redis, S3, network
 * policies, and encoding by Kubernetes Jobs. The first test file installs it, and later ones reuse
 * it.
 */
export async function prepareRelease(): Promise<Release> {
  const address = '10.96.100.80'
  const url = `http://${address}`
  const values = releaseValues(url)
  const isThere = (await kubectl('get', 'deployments', '--namespace', NAMESPACE, '--ignore-not-found', '-o', 'name')) !== ''
  if (!isThere) {
    await prepare(address)
    await install({ release: RELEASE, namespace: NAMESPACE, values: [values] })
  }
  const key = await systemKey()
  const system = createApi(`${url}/v2`, key)
  await waitFor(async () => (await system.get('/video')).status === 200, {
    timeout: 60_000,
    interval: 500,
    describe: 'the gateway to respond',
  })
  return {
    namespace: NAMESPACE,
    url,
    system,
    withKey: (otherKey) => createApi(`${url}/v2`, otherKey),
    upgrade: (overrides) => install({ release: RELEASE, namespace: NAMESPACE, values: [values, overrides] }),
    upgradeTo: (from, images = imageValues) => install({ release: RELEASE, namespace: NAMESPACE, values: [values, images], from }),
  }
}

async function systemKey(): Promise<string> {
  const encoded = await kubectl('get', 'secret', 'keys', '--namespace', NAMESPACE, '-o', 'jsonpath={.data.system-key}')
  return Buffer.from(encoded, 'base64').toString()
}

const SIGNERS = ['gateway', 'auth', 'catalogue', 'encoding', 'worker', 'delivery', 'collaboration', 'analytics']
const PRIVATE = { format: 'pem', type: 'pkcs8' } as const
const PUBLIC = { format: 'pem', type: 'spki' } as const

/** Creates the objects that an operator creates before the install. */
async function prepare(address: string): Promise<void> {
  const outside = buildOutsideServices()
  const text = () => randomBytes(32).toString('base64url')
  const signing = Object.fromEntries(
    SIGNERS.map((name) => [name, generateKeyPairSync('ed25519', { privateKeyEncoding: PRIVATE, publicKeyEncoding: PUBLIC })]),
  )
  const keys = {
    'master-key': text(),
    'system-key': text(),
    'upload-signing-key': text(),
    'idempotency-hash-key': text(),
    ...Object.fromEntries(
      SIGNERS.flatMap((name) => [
        [`${name}.key`, signing[name]?.privateKey],
        [`${name}.pub`, signing[name]?.publicKey],
      ]),
    ),
    'token-keys': `[{"kid":"k1","secret":"${text()}"}]`,
  }
  const storage = { 'access-key-id': outside.storage.accessKeyId, 'secret-access-key': outside.storage.secretAccessKey }
  const certificates = await issueCertificates(components)
  await apply([OUTSIDE, NAMESPACE, ENCODE].map(restricted))
  await apply(certificateSecrets(certificates))
  await apply([
    ...outside.objects,
    secret(NAMESPACE, 'keys', keys),
    secret(NAMESPACE, 'databases', outside.databases),
    secret(NAMESPACE, 'redis', { url: outside.redis }),
    secret(NAMESPACE, 'storage', storage),
    secret(ENCODE, 'keys', { 'worker.key': signing['worker']?.privateKey }),
    secret(ENCODE, 'storage', storage),
    fixedService(NAMESPACE, RELEASE, address),
  ])
}

function secret(namespace: string, name: string, stringData: object): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData }
}

/** Returns a secret with the certificate of each component. The pods of Jobs are workers. */
export function certificateSecrets(certificates: Readonly<Record<string, CertificateFiles>>): object[] {
  return [
    ...components.map((name) => secret(NAMESPACE, `tls-${name}`, certificates[name] ?? {})),
    secret(ENCODE, 'tls', certificates['worker'] ?? {}),
  ]
}

function releaseValues(publicUrl: string): object {
  const small = (replicas: number) => ({ replicas, resources: { requests: { cpu: '20m', memory: '96Mi' } } })
  return {
    ...imageValues,
    publicUrl,
    limits: 'off',
    sourceAllow: [`${NETWORK.machine}/32`],
    secrets: { existingSecret: 'keys' },
    database: { existingSecret: 'databases' },
    redis: { existingSecret: 'redis' },
    storage: {
      s3: {
        endpoint: STORE.endpoint,
        bucket: STORE.bucket,
        existingSecrets: { encoding: 'storage', worker: 'storage', delivery: 'storage', backup: 'storage' },
      },
    },
    tls: { mode: 'secrets', secrets: Object.fromEntries(components.map((name) => [name, `tls-${name}`])) },
    networkPolicy: {
      peers: {
        database: buildNetworkPeers('postgres'),
        redis: buildNetworkPeers('redis'),
        storage: buildNetworkPeers('objects'),
        kubernetesApi: [{ ipBlock: { cidr: `${NETWORK.node}/32` } }],
      },
    },
    gateway: small(2),
    auth: small(2),
    catalogue: small(2),
    delivery: small(2),
    collaboration: small(1),
    analytics: small(1),
    encoding: {
      ...small(2),
      executor: {
        kind: 'kubernetes',
        kubernetes: {
          namespace: ENCODE,
          createNamespace: false,
          secrets: { keys: 'keys', storage: 'storage', tls: 'tls' },
          parallelism: 2,
          cpu: '250m',
        },
      },
    },
    worker: small(1),
  }
}
