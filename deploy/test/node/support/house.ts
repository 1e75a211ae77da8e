import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@vitascope/testing'
import { type Api, createApi } from '../../../../apps/standalone/test/support/api.ts'
import { IMAGES } from '../../../cluster/images/images.ts'
import { NETWORK } from '../../../cluster/node/network.ts'
import { chart, components } from '../../support/chart.ts'
import { type CertificateFiles, certificatesOf } from './certificates.ts'
import { apply, helm, kubectl } from './commands.ts'
import { OUTSIDE, peerOf, STORE, theOutside } from './outside.ts'

/** A release that answers. */
export interface House {
  namespace: string
  /** Under which the tests reach the gateways, by their service. */
  url: string
  /** Calls with the first key. */
  system: Api
  withKey(key: string): Api
  /** Changes values, as `helm upgrade` does, and waits until that is done. */
  upgrade(values: object): Promise<void>
  /** The same to another chart, with the values that it was installed with, and the images of this checkout or these. */
  upgradeTo(chart: string, images?: Images): Promise<void>
}

export const HOUSE = 'house'
/** Of the pods of Jobs. */
export const ENCODE = 'encode'
const RELEASE = 'house'
const split = (image: string) => ({
  repository: image.slice(0, image.lastIndexOf(':')),
  tag: image.slice(image.lastIndexOf(':') + 1),
  pullPolicy: 'Never',
})

/** What the chart is told of images. */
export type Images = ReturnType<typeof imagesOf>
export const imagesOf = ({ server, encoding }: { server: string; encoding: string }) => ({
  image: split(server),
  encodingImage: split(encoding),
})

/** The images of this checkout. */
export const imageValues = imagesOf(IMAGES)

/** Pods of this namespace keep to the restricted standard. */
export function restricted(name: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

/** A service at an address that is known before, which a release of a chart cannot have: the public URL is made of it. */
export function door(namespace: string, instance: string, clusterIP: string): object {
  const selector = { 'app.kubernetes.io/instance': instance, 'app.kubernetes.io/component': 'gateway' }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'door', namespace },
    spec: { clusterIP, selector, ports: [{ port: 80, targetPort: 'http' }] },
  }
}

/** Installs a release, or changes it, and waits until its pods serve. */
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
 * All of the house as it would run for many, small: two gateways, mutual TLS, PostgreSQL, Redis, S3, policies, chunks by Jobs. The first file of tests installs
 * it, the next ones find it.
 */
export async function theHouse(): Promise<House> {
  const address = '10.96.100.80'
  const url = `http://${address}`
  const values = houseValues(url)
  const isThere = (await kubectl('get', 'deployments', '--namespace', HOUSE, '--ignore-not-found', '-o', 'name')) !== ''
  if (!isThere) {
    await prepare(address)
    await install({ release: RELEASE, namespace: HOUSE, values: [values] })
  }
  const key = await systemKey()
  const system = createApi(`${url}/v2`, key)
  await waitFor(async () => (await system.get('/video')).status === 200, {
    timeout: 60_000,
    interval: 500,
    describe: 'the gateway to answer',
  })
  return {
    namespace: HOUSE,
    url,
    system,
    withKey: (other) => createApi(`${url}/v2`, other),
    upgrade: (more) => install({ release: RELEASE, namespace: HOUSE, values: [values, more] }),
    upgradeTo: (from, images = imageValues) => install({ release: RELEASE, namespace: HOUSE, values: [values, images], from }),
  }
}

async function systemKey(): Promise<string> {
  const encoded = await kubectl('get', 'secret', 'keys', '--namespace', HOUSE, '-o', 'jsonpath={.data.system-key}')
  return Buffer.from(encoded, 'base64').toString()
}

/** What an operator makes before the install. */
async function prepare(address: string): Promise<void> {
  const outside = theOutside()
  const text = () => randomBytes(32).toString('base64url')
  const principal = text()
  const keys = {
    'principal-key': principal,
    'master-key': text(),
    'system-key': text(),
    'token-keys': `[{"kid":"k1","secret":"${text()}"}]`,
  }
  const storage = { 'access-key-id': outside.storage.accessKeyId, 'secret-access-key': outside.storage.secretAccessKey }
  const certificates = await certificatesOf(components)
  await apply([OUTSIDE, HOUSE, ENCODE].map(restricted))
  await apply(certificateSecrets(certificates))
  await apply([
    ...outside.objects,
    secret(HOUSE, 'keys', keys),
    secret(HOUSE, 'databases', outside.databases),
    secret(HOUSE, 'redis', { url: outside.redis }),
    secret(HOUSE, 'storage', storage),
    secret(ENCODE, 'keys', { 'principal-key': principal }),
    secret(ENCODE, 'storage', storage),
    door(HOUSE, RELEASE, address),
  ])
}

function secret(namespace: string, name: string, stringData: object): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData }
}

/** What each component shows who it is by; the pods of Jobs are workers. */
export function certificateSecrets(certificates: Readonly<Record<string, CertificateFiles>>): object[] {
  return [
    ...components.map((name) => secret(HOUSE, `tls-${name}`, certificates[name] ?? {})),
    secret(ENCODE, 'tls', certificates['worker'] ?? {}),
  ]
}

function houseValues(publicUrl: string): object {
  const small = (replicas: number) => ({ replicas, resources: { requests: { cpu: '20m', memory: '96Mi' } } })
  return {
    ...imageValues,
    publicUrl,
    limits: 'off',
    sourceAllow: [`${NETWORK.machine}/32`],
    secrets: { existingSecret: 'keys' },
    database: { existingSecret: 'databases' },
    redis: { existingSecret: 'redis' },
    storage: { s3: { endpoint: STORE.endpoint, bucket: STORE.bucket, existingSecret: 'storage' } },
    tls: { mode: 'secrets', secrets: Object.fromEntries(components.map((name) => [name, `tls-${name}`])) },
    networkPolicy: {
      peers: {
        database: peerOf('postgres'),
        redis: peerOf('redis'),
        storage: peerOf('objects'),
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
