import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { makeTokenKeys } from '@vitascope/access'
import { readDatabaseConfig as analyticsDatabase, readConfig as readAnalytics } from '../../apps/analytics/src/config.ts'
import { readMigrateConfig as authDatabase, readAuthConfig } from '../../apps/auth/src/config.ts'
import { readMigrationConfig as catalogueDatabase, readConfig as readCatalogue } from '../../apps/catalogue/src/config.ts'
import { readMigrationConfig as collaborationDatabase, readConfig as readCollaboration } from '../../apps/collaboration/src/config.ts'
import { readDeliveryConfig } from '../../apps/delivery/src/config.ts'
import { readMigrateConfig as encodingDatabase, readConfig as readEncoding } from '../../apps/encoding/src/config.ts'
import { readWorkerConfig } from '../../apps/encoding/src/worker/config.ts'
import { readGatewayConfig } from '../../apps/gateway/src/config.ts'
import { type Container, containersOf, describeChart, type Manifest, type PodSpec, render, valueSets, workloads } from './support/chart.ts'

/** How each process reads its settings. */
const readers: Record<string, (env: NodeJS.ProcessEnv) => unknown> = {
  gateway: readGatewayConfig,
  web: readGatewayConfig,
  auth: readAuthConfig,
  catalogue: readCatalogue,
  encoding: readEncoding,
  worker: readWorkerConfig,
  encode: readWorkerConfig,
  delivery: readDeliveryConfig,
  collaboration: readCollaboration,
  analytics: readAnalytics,
  'auth-migrate': authDatabase,
  'catalogue-migrate': catalogueDatabase,
  'encoding-migrate': encodingDatabase,
  'collaboration-migrate': collaborationDatabase,
  'analytics-migrate': analyticsDatabase,
}

/** Every process reads them beside its own settings (libs/process). */
const readByAll = ['VITASCOPE_LOG_LEVEL', 'VITASCOPE_DRAIN_SECONDS']

/** A content that each secret file may have. */
const contents: Record<string, string> = {
  'keys/principal-key': 'p'.repeat(43),
  'keys/master-key': 'm'.repeat(43),
  'keys/token-keys': makeTokenKeys(),
  'keys/system-key': 's'.repeat(40),
  'database/url': 'postgres://me:secret@db:5432/vitascope',
  'redis/url': 'redis://:secret@redis:6379',
  'mail/url': 'smtp://me:secret@mail:587',
  'storage/access-key-id': 'me',
  'storage/secret-access-key': 'secret',
}

describeChart('settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-chart-settings-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(Object.keys(valueSets))('with the values %s every process has what it needs, and nothing that it does not know', (set) => {
    const manifests = render([set])
    for (const { manifest, component, pod } of workloads(manifests)) {
      for (const container of containersOf(pod)) {
        const name = container.name === 'migrate' && manifest.kind !== 'Job' ? `${component}-migrate` : component
        const read = readers[name]
        if (!read) {
          expect([set, name]).toEqual([set, 'postgres'])
          continue
        }
        const root = join(folder, set, name)
        placeFiles(root, container, pod, manifests)
        const { env, known } = watched(container, root)
        expect(() => read(env)).not.toThrow()
        const given = (container.env ?? []).map((variable) => variable.name)
        expect([name, ...given.filter((variable) => !known.has(variable) && !readByAll.includes(variable))]).toEqual([name])
      }
    }
  })
})

/** The files that the container finds below /etc/vitascope, each with a content that it may have. */
function placeFiles(root: string, container: Container, pod: PodSpec, manifests: readonly Manifest[]): void {
  for (const { name, mountPath } of container.volumeMounts) {
    const { secret, configMap } = pod.volumes.find((volume) => volume.name === name) ?? {}
    const folder = mountPath.replace('/etc/vitascope/', '')
    mkdirSync(join(root, folder), { recursive: true })
    for (const { path } of secret?.items ?? []) {
      const content = contents[join(folder, path)]
      if (content === undefined) throw new Error(`nobody knows what ${folder}/${path} holds`)
      writeFileSync(join(root, folder, path), content)
    }
    const { data = {} } = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMap?.name) ?? {}
    for (const [file, content] of Object.entries(data)) writeFileSync(join(root, folder, file), content)
  }
}

/** The container's environment with its files found below `root`, and the names that are asked for. */
function watched(container: Container, root: string): { env: NodeJS.ProcessEnv; known: Set<string> } {
  const known = new Set<string>()
  const values = Object.fromEntries(
    (container.env ?? []).map(({ name, value }) => [name, value?.replace(/^\/etc\/vitascope\//, `${root}/`)]),
  )
  const env = new Proxy(values, {
    get(target, name) {
      known.add(String(name))
      return Reflect.get(target, name)
    },
  })
  return { env, known }
}
