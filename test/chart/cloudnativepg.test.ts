import { expect, test } from '@jest/globals'
import { describeChart, find, findPod, findVolume, type Manifest, readSettings, render, renderError, renderOnce } from './support/chart.ts'

const SERVICES = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics']
const SET = 'cloudnativepg-complete'

interface ClusterSpec {
  resources: object
  managed?: { roles: { name: string; passwordSecret: { name: string } }[] }
  plugins?: object[]
  postgresql: { parameters: Record<string, string> }
  bootstrap: { initdb: { postInitApplicationSQL: string[] } }
}

const findCluster = (manifests: readonly Manifest[]) => find(manifests, 'Cluster', 'postgres').spec as unknown as ClusterSpec
const decode = (text = '') => Buffer.from(text, 'base64').toString()

describeChart('a CloudNativePG cluster of the chart', () => {
  test('each service has a login with its own schema, and a secret with its URL', () => {
    const manifests = renderOnce(SET)
    const { managed, bootstrap } = findCluster(manifests)
    expect(managed?.roles.map(({ name, passwordSecret }) => [name, passwordSecret.name])).toEqual(
      SERVICES.map((service) => [`vitascope_${service}`, `videos-${service}`]),
    )
    for (const service of SERVICES) {
      expect(bootstrap.initdb.postInitApplicationSQL).toEqual(
        expect.arrayContaining([`create role vitascope_${service} login`, `create schema ${service} authorization vitascope_${service}`]),
      )
      const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === `videos-${service}`)
      const { data = {}, type } = secret as unknown as { data?: Record<string, string>; type: string }
      expect(type).toBe('kubernetes.io/basic-auth')
      const url = new URL(decode(data['uri']))
      expect([url.username, url.password, url.pathname]).toEqual([decode(data['username']), decode(data['password']), '/vitascope'])
      expect(url.hostname).toMatch(/^videos-rw\..+\.svc\.cluster\.local$/)
      expect(findVolume(findPod(manifests, service), 'database')).toMatchObject({
        secret: { secretName: `videos-${service}`, items: [{ key: 'uri', path: 'url' }] },
      })
    }
    const passwords = SERVICES.map((service) => manifests.find(({ metadata }) => metadata.name === `videos-${service}`))
    expect(new Set(passwords.map((secret) => (secret as unknown as { data: { password: string } }).data.password)).size).toBe(5)
  })

  test('services use the pooler for queries, and the cluster directly otherwise', () => {
    const manifests = renderOnce(SET)
    const pooler = manifests.find(({ kind }) => kind === 'Pooler')
    expect(pooler?.spec).toMatchObject({ cluster: { name: 'videos' }, instances: 2, type: 'rw', pgbouncer: { poolMode: 'transaction' } })
    for (const service of SERVICES) {
      const settings = readSettings(manifests, service)
      const name = `VITASCOPE_${service.toUpperCase()}_DATABASE`
      expect(settings[`${name}_URL_FILE`]).toBe('/etc/vitascope/pooler/url')
      expect(settings[`${name}_DIRECT_URL_FILE`]).toBe('/etc/vitascope/database/url')
      expect(findVolume(findPod(manifests, service), 'pooler')).toMatchObject({
        secret: { secretName: `videos-${service}`, items: [{ key: 'pooler-uri', path: 'url' }] },
      })
    }
    const { spec } = find(manifests, 'NetworkPolicy', 'catalogue')
    expect(JSON.stringify(spec)).toContain('"cnpg.io/poolerName":"videos-pooler"')
  })

  test('base backups and the log are stored in a bucket, with bounds of time', () => {
    const manifests = renderOnce(SET)
    const { plugins, postgresql } = findCluster(manifests)
    expect(plugins).toEqual([{ name: 'barman-cloud.cloudnative-pg.io', isWALArchiver: true, parameters: { barmanObjectName: 'videos' } }])
    expect(postgresql.parameters['archive_timeout']).toBe('60s')
    expect(manifests.find(({ kind }) => kind === 'ObjectStore')?.spec).toMatchObject({
      retentionPolicy: '30d',
      configuration: {
        destinationPath: 's3://database-backups/videos',
        endpointURL: 'https://s3.example.org',
        s3Credentials: { accessKeyId: { name: 'database-backups', key: 'access-key-id' } },
      },
    })
    expect(manifests.find(({ kind }) => kind === 'ScheduledBackup')?.spec).toMatchObject({
      schedule: '0 17 2 * * *',
      cluster: { name: 'videos' },
      method: 'plugin',
    })
  })

  test('by default there is one login, no pooler and no backup, and each instance has resources', () => {
    const manifests = renderOnce('cloudnativepg')
    const { managed, plugins, resources, postgresql } = findCluster(manifests)
    expect([managed, plugins, postgresql.parameters['archive_timeout']]).toEqual([undefined, undefined, undefined])
    expect(resources).toMatchObject({ requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '2Gi' } })
    expect(manifests.map(({ kind }) => kind)).not.toEqual(expect.arrayContaining(['Pooler']))
    expect(findVolume(findPod(manifests, 'auth'), 'database')).toMatchObject({ secret: { secretName: 'videos-app' } })
    const changed = render(['cloudnativepg'], { database: { cloudNativePg: { resources: { limits: { memory: '8Gi' } } } } })
    expect(findCluster(changed).resources).toMatchObject({ limits: { memory: '8Gi' } })
  })

  test.each<[string, object, string]>([
    ['a pooler without logins', { pooler: { instances: 1 } }, 'set `database.cloudNativePg.separateLogins` to true'],
    ['backups without keys', { backup: { destination: 's3://b/p' } }, 'set `database.cloudNativePg.backup.existingSecret`'],
    ['logins of another cluster', { create: false, separateLogins: true }, 'set `database.cloudNativePg.create` to true'],
  ])('%s are rejected', (_, cloudNativePg, message) => {
    expect(renderError(['cloudnativepg'], { database: { cloudNativePg } })).toContain(message)
  })
})
