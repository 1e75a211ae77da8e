import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readProcessSettings } from '@vitascope/process'
import { makeTokenKeys } from '@vitascope/security'
import { SIGNERS, testSigningKey, toPublicKey } from '@vitascope/testing/principal-keys'
import {
  type Container,
  describeChart,
  listContainers,
  type Manifest,
  type PodSpec,
  render,
  valueSets,
  workloads,
} from './support/chart.ts'
import { readByAll, readers } from './support/readers.ts'

/** The pods of two components run the program of another one. */
const programs: Record<string, string> = { web: 'gateway', encode: 'worker' }

/** Settings that every process, Node itself or the AWS SDK reads, in addition to those that its reader reads. */
const otherSettings = [...readByAll, 'NODE_EXTRA_CA_CERTS', 'AWS_EC2_METADATA_DISABLED']

/** Valid contents of each secret file. */
const contents: Record<string, string> = {
  'keys/signing-key': testSigningKey('any'),
  'keys/upload-signing-key': 'u'.repeat(43),
  'keys/idempotency-hash-key': 'i'.repeat(43),
  'keys/master-key': 'm'.repeat(43),
  'keys/token-keys': makeTokenKeys(),
  'keys/system-key': 's'.repeat(40),
  ...Object.fromEntries(SIGNERS.map((name) => [`public-keys/${name}.pub`, toPublicKey(testSigningKey(name))])),
  'database/url': 'postgres://me:secret@db:5432/vitascope',
  'pooler/url': 'postgres://me:secret@pooler:5432/vitascope',
  ...Object.fromEntries(
    ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics'].map((service) => [
      `databases/${service}/url`,
      `postgres://${service}@db/platform`,
    ]),
  ),
  'proxy/url': 'http://me:secret@proxy:3128',
  'sentinel/password': 'a password',
  'redis/url': 'redis://:secret@redis:6379',
  'oidc/client-secret': 'a secret of a client',
  'tracing/headers': 'authorization=Bearer%20secret',
  'mail/url': 'smtp://me:secret@mail:587',
  'storage/access-key-id': 'me',
  'storage/secret-access-key': 'secret',
}

describeChart('settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-chart-settings-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(Object.keys(valueSets))('with the values %s, every process has all required settings and no unknown ones', (set) => {
    const manifests = render([set])
    for (const { manifest, component, pod } of workloads(manifests)) {
      for (const container of listContainers(pod)) {
        // nginx reads no settings.
        if (container.name === 'nginx') continue
        const name = container.name === 'migrate' && manifest.kind !== 'Job' ? `${component}-migrate` : component
        const read = readers[programs[name] ?? name]
        if (!read) {
          expect([set, name]).toEqual([set, 'postgres'])
          continue
        }
        const root = join(folder, set, name)
        placeFiles(root, container, pod, manifests)
        const { env, readNames } = watchEnvironment(container, root)
        expect(() => [read(env), readProcessSettings(env)]).not.toThrow()
        const input = (container.env ?? []).map((variable) => variable.name)
        expect([name, ...input.filter((variable) => !readNames.has(variable) && !otherSettings.includes(variable))]).toEqual([name])
      }
    }
  })
})

/** Writes the files that the container mounts below /etc/vitascope, with valid contents. */
function placeFiles(root: string, container: Container, pod: PodSpec, manifests: readonly Manifest[]): void {
  for (const { name, mountPath } of container.volumeMounts) {
    const { secret, configMap } = pod.volumes.find((volume) => volume.name === name) ?? {}
    const folder = mountPath.replace('/etc/vitascope/', '')
    mkdirSync(join(root, folder), { recursive: true })
    for (const { path } of secret?.items ?? []) {
      const content = contents[join(folder, path)]
      if (content === undefined) throw new Error(`no valid contents are defined for ${folder}/${path}`)
      writeFileSync(join(root, folder, path), content)
    }
    const { data = {} } = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMap?.name) ?? {}
    for (const [file, content] of Object.entries(data)) writeFileSync(join(root, folder, file), content)
  }
}

/**
 * Returns the environment of the container with its files below `root`, and the names of the
 * settings that were read.
 */
function watchEnvironment(container: Container, root: string): { env: NodeJS.ProcessEnv; readNames: Set<string> } {
  const readNames = new Set<string>()
  const values = Object.fromEntries(
    (container.env ?? []).map(({ name, value }) => [name, value?.replace(/^\/etc\/vitascope\//, `${root}/`)]),
  )
  const env = new Proxy(values, {
    get(target, name) {
      readNames.add(String(name))
      return Reflect.get(target, name)
    },
  })
  return { env, readNames }
}
