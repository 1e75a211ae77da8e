import { expect, test } from '@jest/globals'
import { describeChart, find, findPod, type Manifest, type PodSpec, render, renderError } from './support/chart.ts'

describeChart('backups', () => {
  let rendered: Manifest[] = []
  const manifests = () => {
    if (rendered.length === 0) rendered = render(['backup'])
    return rendered
  }
  const listSecretFiles = (pod: PodSpec) =>
    pod.volumes.flatMap(({ secret }) => (secret?.items ?? []).map(({ key }) => `${secret?.secretName}/${key}`)).sort()

  test('the CronJob backs up all databases, objects and keys to a volume, one run at a time', () => {
    const { spec } = find(manifests(), 'CronJob', 'backup')
    expect(spec).toMatchObject({ schedule: '17 3 * * *', timeZone: 'Etc/UTC', concurrencyPolicy: 'Forbid', suspend: false })
    const pod = findPod(manifests(), 'backup')
    expect(pod.containers[0]?.args).toEqual([
      'apps/backup/src/main.ts',
      'backup',
      '--to',
      '/var/lib/vitascope/backup/platform',
      '--keep',
      '7',
    ])
    expect(listSecretFiles(pod)).toEqual([
      ...['access-key-id', 'secret-access-key'].map((name) => `backup-objects/${name}`),
      ...['analytics', 'auth', 'catalogue', 'collaboration', 'encoding'].map((name) => `videos-databases/${name}`),
      ...['idempotency-hash-key', 'master-key', 'token-keys', 'upload-signing-key'].map((name) => `videos-keys/${name}`),
    ])
    const mount = (name: string) => pod.containers[0]?.volumeMounts.find((candidate) => candidate.name === name)
    expect(mount('backup')).toMatchObject({ mountPath: '/var/lib/vitascope/backup', readOnly: false })
    const without = findPod(render(['backup'], { backup: { withSecrets: false } }), 'backup')
    expect(without.containers[0]?.args).toContain('--without-secrets')
    expect(listSecretFiles(without).filter((file) => file.startsWith('videos-keys'))).toEqual([])
  })

  test('uses the configured volume, and mounts an objects volume read-only', () => {
    expect(findPod(manifests(), 'backup').volumes).toContainEqual({ name: 'backup', persistentVolumeClaim: { claimName: 'videos-backup' } })
    const files = findPod(render(['evaluation'], { backup: { enabled: true, existingClaim: 'mine' } }), 'backup')
    expect(files.containers[0]?.volumeMounts).toContainEqual({ name: 'objects', mountPath: '/var/lib/vitascope/objects', readOnly: true })
  })

  test('a restore runs before the migrations of an install, with its own account and network policy, and not on upgrades', () => {
    const job = find(manifests(), 'Job', 'restore')
    const readHookWeight = ({ metadata }: Manifest) => Number(metadata.annotations?.['helm.sh/hook-weight'])
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install')
    expect(readHookWeight(job)).toBeLessThan(readHookWeight(find(manifests(), 'Job', 'auth-migrate')))
    for (const kind of ['ServiceAccount', 'NetworkPolicy']) {
      const around = find(manifests(), kind, 'restore')
      expect([kind, around.metadata.annotations?.['helm.sh/hook'], readHookWeight(around) < readHookWeight(job)]).toEqual([
        kind,
        'pre-install',
        true,
      ])
    }
    expect(findPod(manifests(), 'restore').containers[0]?.args).toEqual(expect.arrayContaining(['restore', '--verify']))
    const earlier = findPod(render(['backup'], { backup: { restoreAt: '2026-01-31T12:00:00Z' } }), 'restore')
    expect(earlier.containers[0]?.args.slice(-2)).toEqual(['--at', '2026-01-31T12:00:00Z'])
    expect(findPod(manifests(), 'restore').containers[0]?.volumeMounts).toContainEqual({
      name: 'backup',
      mountPath: '/var/lib/vitascope/backup',
      readOnly: true,
    })
  })

  test('backup and restore pods reach the database and the object store, and no pod reaches them', () => {
    for (const name of ['backup', 'restore']) {
      const { egress, ingress, policyTypes } = find(manifests(), 'NetworkPolicy', name).spec as {
        egress: { to: { ipBlock?: { cidr: string } }[] }[]
        ingress?: object[]
        policyTypes: string[]
      }
      expect([policyTypes, ingress]).toEqual([['Ingress', 'Egress'], undefined])
      expect(egress.map(({ to }) => to.map(({ ipBlock }) => ipBlock?.cidr ?? 'names'))).toEqual([
        ['names'],
        ['192.0.2.10/32'],
        ['192.0.2.12/32'],
      ])
    }
  })

  test('the database of the evaluation install accepts the backup pod only if backups are enabled', () => {
    const callers = (values: object) => {
      const { ingress } = find(render(['evaluation'], values), 'NetworkPolicy', 'postgres').spec as {
        ingress: { from: { podSelector: { matchLabels: Record<string, string> } }[] }[]
      }
      return ingress.flatMap(({ from }) => from.map(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component']))
    }
    expect(callers({})).not.toContain('backup')
    expect(callers({ backup: { enabled: true, existingClaim: 'mine' } })).toEqual([...callers({}), 'backup'])
  })

  test.each([
    ['backup', { backup: { existingClaim: '' } }, 'set `backup.existingClaim` to an existing claim'],
    [
      'cloudnativepg',
      { backup: { restore: true, existingClaim: 'kept' } },
      'set `backup.restore` to false, or `database` to an existing database',
    ],
    ['workers-alone', { backup: { enabled: true } }, 'the database of auth is not configured: set `auth.database.existingSecret`'],
    ['backup', { secrets: { existingSecret: '', generate: true } }, 'set `secrets.existingSecret` to a secret with the keys of the backup'],
    ['backup', { backup: { schedule: 'at night' } }, "at '/backup/schedule'"],
  ])('rejects values %s with %j: %s', (set, values, sentence) => {
    expect(renderError([set], values)).toContain(sentence)
  })
})
