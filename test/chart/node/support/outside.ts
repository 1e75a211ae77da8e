import { randomBytes } from 'node:crypto'
import { IMAGES } from '../../../cluster/images/images.ts'
import { kubectl } from './commands.ts'

/** Namespace of the dependencies that the chart does not provide. */
export const OUTSIDE = 'outside'
const OWNERS = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics'] as const
const host = (name: string) => `${name}.${OUTSIDE}.svc.cluster.local`
/** S3 store in this namespace. */
export const STORE = { endpoint: `http://${host('objects')}:7070`, bucket: 'videos' }
const secretText = () => randomBytes(18).toString('hex')

/** Addresses of the dependencies. */
export interface Outside {
  databases: Record<string, string>
  redis: string
  storage: { accessKeyId: string; secretAccessKey: string }
  objects: object[]
}

/**
 * Returns PostgreSQL with a login and a schema per service, Redis, and an S3 store with a bucket.
 * Their volumes outlive the pods.
 */
export function buildOutsideServices(): Outside {
  const passwords = Object.fromEntries(OWNERS.map((owner) => [owner, secretText()]))
  const logins = OWNERS.map(
    (owner) =>
      `create role vitascope_${owner} login password '${passwords[owner]}'; create schema ${owner} authorization vitascope_${owner}; grant create on database vitascope to vitascope_${owner};`,
  )
  const keys = { ROOT_ACCESS_KEY: 'videos', ROOT_SECRET_KEY: secretText() }
  const database = `${host('postgres')}:5432/vitascope`
  return {
    databases: Object.fromEntries(OWNERS.map((owner) => [owner, `postgres://vitascope_${owner}:${passwords[owner]}@${database}`])),
    redis: `redis://${host('redis')}:6379`,
    storage: { accessKeyId: keys.ROOT_ACCESS_KEY, secretAccessKey: keys.ROOT_SECRET_KEY },
    objects: [
      secret('postgres', { password: secretText(), 'logins.sql': logins.join('\n') }),
      secret('objects', keys),
      ...server({
        name: 'postgres',
        image: IMAGES.postgres,
        port: 5432,
        folder: '/var/lib/postgresql',
        env: [
          { name: 'POSTGRES_DB', value: 'vitascope' },
          { name: 'POSTGRES_PASSWORD_FILE', value: '/run/secret/password' },
          { name: 'PGDATA', value: '/var/lib/postgresql/pgdata' },
        ],
        mounts: [
          { name: 'run', mountPath: '/var/run/postgresql' },
          { name: 'secret', mountPath: '/run/secret' },
          { name: 'secret', mountPath: '/docker-entrypoint-initdb.d' },
        ],
        volumes: [
          { name: 'run', emptyDir: {} },
          { name: 'secret', secret: { secretName: 'postgres', defaultMode: 0o440 } },
        ],
        ready: { exec: { command: ['pg_isready', '--host=127.0.0.1'] } },
      }),
      ...server({ name: 'redis', image: IMAGES.redis, port: 6379 }),
      ...server({
        name: 'objects',
        image: IMAGES.objects,
        port: 7070,
        folder: '/objects',
        first: ['mkdir', '-p', `/objects/buckets/${STORE.bucket}`, '/objects/sidecar'],
        env: Object.keys(keys).map((name) => ({ name, valueFrom: { secretKeyRef: { name: 'objects', key: name } } })),
      }),
    ],
  }
}

/**
 * Empties the schemas of the database and the bucket, as after a disaster. The logins remain. The release
 * must have been removed.
 */
export async function clearOutsideServices(): Promise<void> {
  const statements = OWNERS.map((owner) => `drop schema ${owner} cascade; create schema ${owner} authorization vitascope_${owner};`).join(
    ' ',
  )
  const inPod = (pod: string, ...command: string[]) => kubectl('exec', pod, '--namespace', OUTSIDE, '--', ...command)
  await inPod(
    'postgres-0',
    'psql',
    '--username=postgres',
    '--dbname=vitascope',
    '--set=ON_ERROR_STOP=1',
    '--quiet',
    '--command',
    statements,
  )
  await inPod('objects-0', 'sh', '-c', `rm -rf /objects/buckets/${STORE.bucket}/* /objects/sidecar/*`)
}

/** Returns peers for network policies. */
export function buildNetworkPeers(name: string): object[] {
  return [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': OUTSIDE } }, podSelector: { matchLabels: { app: name } } }]
}

function secret(name: string, stringData: Record<string, string>) {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: OUTSIDE }, stringData }
}

interface Server {
  name: string
  image: string
  port: number
  /** Folder on a persistent volume. */
  folder?: string
  /** Command of an init container. */
  first?: string[]
  env?: object[]
  mounts?: object[]
  volumes?: object[]
  ready?: object
}

function server({ name, image, port, folder, first, env = [], mounts = [], volumes = [], ready }: Server): object[] {
  const labels = { app: name }
  const metadata = { name, namespace: OUTSIDE }
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  const volumeMounts = [
    { name: 'tmp', mountPath: '/tmp' },
    ...(folder === undefined ? [] : [{ name: 'data', mountPath: folder }]),
    ...mounts,
  ]
  const common = { image, imagePullPolicy: 'Never', securityContext, volumeMounts, resources: { requests: { cpu: '10m', memory: '64Mi' } } }
  const container = {
    ...common,
    name,
    env,
    ports: [{ containerPort: port }],
    readinessProbe: { periodSeconds: 1, ...(ready ?? { tcpSocket: { port } }) },
  }
  const spec = {
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10_001,
      fsGroup: 10_001,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(first && { initContainers: [{ ...common, name: 'first', command: first }] }),
    containers: [container],
    volumes: [{ name: 'tmp', emptyDir: {} }, ...volumes],
  }
  const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } } }
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {
        serviceName: name,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec },
        ...(folder !== undefined && { volumeClaimTemplates: [claim] }),
      },
    },
  ]
}
