// Credentials and encryption of the object store.
import { expect, test } from '@jest/globals'
import { describeChart, find, listContainers, readSettings, render, renderError, workloads } from './support/chart.ts'

/** Components with access to the object store. `encode` is the pod of a Kubernetes Job. */
const USERS = ['backup', 'delivery', 'encode', 'encoding', 'worker']

describeChart('the object store', () => {
  test('with the identity of pods, no pod mounts keys of the store or a token for the Kubernetes API', () => {
    const pods = workloads(render(['identity'])).filter(({ manifest }) => manifest.kind !== 'Job')
    const isUser = ({ pod }: (typeof pods)[number]) =>
      listContainers(pod).some(({ env = [] }) => env.some(({ name }) => name === 'VITASCOPE_S3_BUCKET' && pod.containers.length > 0))
    const users = pods.filter((workload) => isUser(workload) && workload.component !== 'gateway')
    expect(users.map(({ component }) => component).toSorted()).toEqual(USERS)
    for (const { pod } of users) {
      const env = Object.fromEntries((pod.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))
      expect(env).toMatchObject({ VITASCOPE_S3_CREDENTIALS: 'identity', AWS_EC2_METADATA_DISABLED: 'true' })
      expect(Object.keys(env).filter((name) => /S3_(ACCESS|SECRET)/.test(name))).toEqual([])
      expect(pod.volumes.map(({ name }) => name)).not.toContain('storage')
      expect(pod.containers[0]?.volumeMounts.map(({ name }) => name)).not.toContain('storage')
    }
    expect(users.filter(({ pod }) => pod.automountServiceAccountToken).map(({ component }) => component)).toEqual(['encoding'])
  })

  test('each account that uses the store has the role of its component, and no other account has one', () => {
    const manifests = render(['identity'])
    const roles = manifests
      .filter(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.annotations !== undefined)
      .map(({ metadata }) => [metadata.name, metadata.annotations?.['eks.amazonaws.com/role-arn']?.split('/')[1]])
    expect(Object.fromEntries(roles)).toEqual({
      'videos-vitascope-backup': 'videos-backup',
      'videos-vitascope-delivery': 'videos-delivery',
      'videos-vitascope-encode': 'videos-worker',
      'videos-vitascope-encoding': 'videos-encoding',
      'videos-vitascope-worker': 'videos-worker',
    })
  })

  test('a restore has the role of backups in addition to the annotations of its hook', () => {
    const manifests = render(['identity'], {
      backup: { restore: true },
      secrets: { existingSecret: 'videos-keys' },
      encoding: { executor: { kind: 'worker' } },
    })
    expect(find(manifests, 'ServiceAccount', 'restore').metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install',
      'eks.amazonaws.com/role-arn': expect.stringMatching(/videos-backup$/),
    })
  })

  test('network policies allow the token service for the users of the store only', () => {
    const allowed = render(['identity'])
      .filter(({ kind, spec }) => kind === 'NetworkPolicy' && JSON.stringify(spec).includes('192.0.2.20/32'))
      .map(({ metadata }) => metadata.name.replace('videos-vitascope-', ''))
    expect(allowed.toSorted()).toEqual(USERS)
    expect(renderError(['identity'], { networkPolicy: { peers: { identity: [] } } })).toContain('set `networkPolicy.peers.identity`')
  })

  test('all components that write objects request their encryption', () => {
    const key = 'arn:aws:kms:eu-central-1:123456789012:key/videos'
    const manifests = render(['identity'])
    for (const component of ['encode', 'encoding', 'worker', 'backup'])
      expect(readSettings(manifests, component)).toMatchObject({ VITASCOPE_S3_ENCRYPTION: 'aws:kms', VITASCOPE_S3_KMS_KEY: key })
    const withStoreKeys = readSettings(render(['identity'], { storage: { s3: { encryption: 'AES256', kmsKey: '' } } }), 'worker')
    expect([withStoreKeys['VITASCOPE_S3_ENCRYPTION'], withStoreKeys['VITASCOPE_S3_KMS_KEY']]).toEqual(['AES256', undefined])
    expect(readSettings(render(['production']), 'worker')).not.toHaveProperty('VITASCOPE_S3_ENCRYPTION')
  })

  test('with keys there is no identity', () => {
    const settings = readSettings(render(['production']), 'worker')
    expect(settings).toHaveProperty('VITASCOPE_S3_ACCESS_KEY_ID_FILE')
    expect(settings).not.toHaveProperty('VITASCOPE_S3_CREDENTIALS')
  })
})
