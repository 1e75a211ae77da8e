// Faults: K7
import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import {
  type Component,
  chart,
  components,
  describeChart,
  find,
  findPod,
  findVolume,
  helm,
  type Manifest,
  main,
  readSettings,
  render,
  renderOnce,
  valueSets,
  workloads,
} from './support/chart.ts'

const cpuMetric = (container: string, averageValue: string) => ({
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container, target: { type: 'AverageValue', averageValue } },
})

describeChart('components', () => {
  test('the evaluation install has one pod per component and its dependencies', () => {
    const names = new Map<string, string[]>()
    for (const { kind, metadata } of renderOnce('evaluation'))
      names.set(kind, [...(names.get(kind) ?? []), metadata.name.replace('videos-vitascope-', '')].sort())
    const apps = ['analytics', 'auth', 'catalogue', 'collaboration', 'delivery', 'encoding', 'gateway', 'worker']
    const all = [...apps, 'postgres'].sort()
    expect(Object.fromEntries(names)).toEqual({
      Deployment: apps.filter((name) => name !== 'analytics'),
      StatefulSet: ['analytics', 'postgres'],
      Pod: ['test'],
      ServiceAccount: [...all, 'test'].sort(),
      NetworkPolicy: [...all, 'test'].sort(),
      Service: [...all.filter((name) => name !== 'worker'), 'encoding-upload', 'delivery-public'].sort(),
      Secret: ['keys', 'postgres'],
      PersistentVolumeClaim: ['objects'],
    })
    for (const name of apps)
      expect(
        ['Deployment', 'StatefulSet'].map(
          (kind) =>
            renderOnce('evaluation').find((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(`-${name}`))?.spec?.[
              'replicas'
            ],
        ),
      ).toContain(1)
  })

  test('gRPC services with mTLS are probed in plain text, on a port that no other pod reaches', () => {
    for (const name of ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics']) {
      const { readinessProbe, livenessProbe } = main(findPod(renderOnce('production'), name))
      expect(readinessProbe).toMatchObject({ grpc: { port: 9091 } })
      // A database outage makes a service not ready, but must not restart it.
      expect(livenessProbe).toMatchObject({ httpGet: { path: '/healthz', port: 'metrics' } })
      expect(readSettings(renderOnce('production'), name)[`VITASCOPE_${name.toUpperCase()}_HEALTH_LISTEN`]).toBe('0.0.0.0:9091')
      expect(JSON.stringify(find(renderOnce('production'), 'NetworkPolicy', name))).not.toContain('health')
    }
    for (const name of ['gateway', 'web', 'delivery', 'worker']) {
      expect(main(findPod(renderOnce('production'), name)).readinessProbe).toMatchObject({ httpGet: { path: '/readyz', port: 'metrics' } })
    }
  })

  test('each pod of analytics has its own spool volume, which is kept when the pod is deleted', () => {
    const { spec } = find(renderOnce('production'), 'StatefulSet', 'analytics')
    expect(spec).toMatchObject({
      volumeClaimTemplates: [{ metadata: { name: 'spool' } }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    })
    expect(readSettings(renderOnce('production'), 'analytics')['VITASCOPE_ANALYTICS_SPOOL_DIR']).toBe('/var/lib/vitascope/spool')
    expect(readSettings(renderOnce('open-network'), 'analytics')).not.toHaveProperty('VITASCOPE_ANALYTICS_SPOOL_DIR')
    expect(find(renderOnce('open-network'), 'Deployment', 'analytics')).toBeDefined()
  })

  test('the volume of objects is mounted by encoding, worker and delivery, and kept when the release is removed', () => {
    const manifests = renderOnce('cloudnativepg')
    const claim = find(manifests, 'PersistentVolumeClaim', 'objects')
    expect(claim.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
    expect(claim.spec).toMatchObject({ accessModes: ['ReadWriteMany'] })
    for (const name of ['encoding', 'worker', 'delivery']) {
      expect(findVolume(findPod(manifests, name), 'objects')).toEqual({
        name: 'objects',
        persistentVolumeClaim: { claimName: claim.metadata.name },
      })
      const mount = main(findPod(manifests, name)).volumeMounts.find((candidate) => candidate.name === 'objects')
      expect([name, mount?.readOnly ?? false]).toEqual([name, name === 'delivery'])
    }
  })

  test('each component mounts only the secrets that it requires', () => {
    const files = (name: string) =>
      findPod(renderOnce('production'), name)
        .volumes.flatMap(({ secret }) => (secret?.items ?? []).map(({ key }) => `${secret?.secretName}/${key}`))
        .sort()
    const keys = (signer: string, otherKeys: string[] = [], callers: string[] = []) =>
      [`${signer}.key`, ...otherKeys, ...callers.map((name) => `${name}.pub`)].map((key) => `videos-keys/${key}`)
    const objects = (name: string) => ['access-key-id', 'secret-access-key'].map((key) => `${name}-objects/${key}`)
    const all: Record<string, string[]> = {
      gateway: [...keys('gateway', ['idempotency-hash-key']), 'videos-redis/url'],
      web: [...keys('gateway', ['idempotency-hash-key']), 'videos-redis/url'],
      auth: [
        'videos-databases/auth',
        ...keys('auth', ['master-key', 'system-key'], ['catalogue', 'collaboration', 'gateway']),
        'videos-oidc/client-secret',
      ],
      catalogue: [
        'videos-databases/catalogue',
        ...keys('catalogue', ['master-key', 'token-keys'], ['analytics', 'auth', 'collaboration', 'delivery', 'encoding', 'gateway']),
        'videos-mail/url',
      ],
      encoding: [
        'videos-databases/encoding',
        ...keys('encoding', ['upload-signing-key'], ['catalogue', 'delivery', 'gateway', 'worker']),
        ...objects('encoding'),
      ],
      worker: [...keys('worker'), ...objects('worker')],
      delivery: [...keys('delivery', ['token-keys']), ...objects('delivery')],
      collaboration: ['videos-databases/collaboration', ...keys('collaboration', [], ['gateway'])],
      analytics: ['videos-databases/analytics', ...keys('analytics', [], ['gateway'])],
    }
    for (const name of components) expect([name, files(name)]).toEqual([name, all[name]?.sort()])
    expect(findVolume(findPod(renderOnce('gateway-api'), 'catalogue'), 'database')?.secret).toMatchObject({
      secretName: 'catalogue-database',
      items: [{ key: 'url', path: 'url' }],
    })
  })

  test('behind a pooler, services use both URLs, and migrations the direct one', () => {
    const manifests = render(['production'], { database: { pooler: { existingSecret: 'videos-pooler' } } })
    for (const name of ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics']) {
      const pod = findPod(manifests, name)
      expect(findVolume(pod, 'pooler')?.secret).toMatchObject({ secretName: 'videos-pooler', items: [{ key: name, path: 'url' }] })
      expect(findVolume(pod, 'database')?.secret).toMatchObject({ secretName: 'videos-databases', items: [{ key: name, path: 'url' }] })
      const prefix = `VITASCOPE_${name.toUpperCase()}_DATABASE`
      expect(readSettings(manifests, name)).toMatchObject({
        [`${prefix}_URL_FILE`]: '/etc/vitascope/pooler/url',
        [`${prefix}_DIRECT_URL_FILE`]: '/etc/vitascope/database/url',
      })
    }
    const migrations = workloads(manifests).filter(({ manifest }) => manifest.kind === 'Job')
    expect(migrations.length).toBeGreaterThan(0)
    expect(JSON.stringify(migrations)).not.toContain('pooler')
  })

  test('only the services that decide by countries or count them have the country database', () => {
    const manifests = render(['production'], { countryDatabase: { existingClaim: 'countries', file: 'GeoLite2-Country.mmdb' } })
    const mounting = components.filter((name) =>
      JSON.stringify(findVolume(findPod(manifests, name), 'countries') ?? {}).includes('"claimName":"countries"'),
    )
    expect(mounting.sort()).toEqual(['analytics', 'catalogue', 'delivery'])
    for (const name of mounting) {
      const file = '/etc/vitascope/countries/GeoLite2-Country.mmdb'
      expect(readSettings(manifests, name)).toMatchObject({ VITASCOPE_COUNTRY_DATABASE_FILE: file })
    }
  })

  test('only catalogue has the secret of the purge URL of a CDN', () => {
    const manifests = render(['production'], { cdn: { existingSecret: 'videos-cdn' } })
    const withSecret = components.filter((name) => findVolume(findPod(manifests, name), 'cdn')?.secret?.secretName === 'videos-cdn')
    expect(withSecret).toEqual(['catalogue'])
    expect(readSettings(manifests, 'catalogue')).toMatchObject({
      VITASCOPE_CDN_PURGE_URL_FILE: '/etc/vitascope/cdn/url',
      VITASCOPE_CDN_PURGE_SECRET_FILE: '/etc/vitascope/cdn/secret',
    })
    expect(findVolume(findPod(renderOnce('production'), 'catalogue'), 'cdn')).toBeUndefined()
  })

  test('a custom CA bundle is mounted in every pod', () => {
    const manifests = render(['jobs'], { authorities: { configMap: 'our-authorities', key: 'root.pem' } })
    const pods = workloads(manifests)
    expect(pods.map(({ component }) => component)).toContain('encode')
    for (const { component, pod } of pods) {
      const [container] = pod.containers
      expect([component, container?.env]).toEqual([
        component,
        expect.arrayContaining([{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/vitascope/authorities/ca.crt' }]),
      ])
      expect(findVolume(pod, 'authorities')?.configMap).toEqual({ name: 'our-authorities', items: [{ key: 'root.pem', path: 'ca.crt' }] })
    }
  })

  test.each([
    ['my.release', 'my-release-vitascope'],
    ['2026.video', 'vitascope-2026-video'],
  ])('the release %s has valid names of Services', (release, name) => {
    const { code, out } = helm(['template', release, chart, '--namespace', 'vitascope', '--values', valueSets['evaluation'] ?? ''])
    expect(code).toBe(0)
    expect(out).toContain(`name: ${name}-gateway\n`)
    expect(out).not.toContain(`name: ${release}`)
  })

  test('an image with a digest is referenced by the digest', () => {
    expect(main(findPod(renderOnce('production'), 'worker')).image).toBe(`images.example.org/vitascope/encoding@sha256:${'b'.repeat(64)}`)
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string }
    expect(main(findPod(renderOnce('evaluation'), 'worker')).image).toBe(`vitascope/encoding:${version}`)
  })

  test('workers have a lower priority than the gateway', () => {
    const classes = renderOnce('production').filter(({ kind }) => kind === 'PriorityClass') as (Manifest & { value: number })[]
    const value = (name: string) =>
      classes.find(({ metadata }) => metadata.name === findPod(renderOnce('production'), name).priorityClassName)?.value
    expect(value('worker')).toBeLessThan(value('gateway') ?? 0)
    expect(findPod(renderOnce('production'), 'worker').nodeSelector).toEqual({ kind: 'encoder' })
  })

  test('pods of each revision are spread over nodes and zones', () => {
    for (const { manifest, pod, component } of workloads(renderOnce('production')).filter(
      (workload) => !['Job', 'Pod'].includes(workload.manifest.kind),
    )) {
      const hash = manifest.kind === 'StatefulSet' ? 'controller-revision-hash' : 'pod-template-hash'
      const spread = pod.topologySpreadConstraints?.map(({ topologyKey, matchLabelKeys }) => [topologyKey, ...matchLabelKeys])
      expect([component, spread]).toEqual([
        component,
        [
          ['kubernetes.io/hostname', hash],
          ['topology.kubernetes.io/zone', hash],
        ],
      ])
    }
  })

  test('topology spread constraints can be disabled', () => {
    expect(findPod(renderOnce('open-network'), 'gateway')).not.toHaveProperty('topologySpreadConstraints')
  })

  test('at most one pod of a component can be disrupted, and the evaluation install has no disruption budgets', () => {
    for (const name of components) {
      expect(find(renderOnce('production'), 'PodDisruptionBudget', name).spec).toMatchObject({
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      })
    }
    expect(renderOnce('evaluation').filter(({ kind }) => kind === 'PodDisruptionBudget')).toEqual([])
  })

  test('a Deployment with an autoscaler does not set replicas', () => {
    const scaler = find(renderOnce('production'), 'HorizontalPodAutoscaler', 'gateway')
    expect(scaler.spec).toMatchObject({
      minReplicas: 3,
      maxReplicas: 20,
      scaleTargetRef: { kind: 'Deployment', name: 'videos-vitascope-gateway' },
    })
    expect(find(renderOnce('production'), 'Deployment', 'gateway').spec).not.toHaveProperty('replicas')
    expect(find(renderOnce('production'), 'Deployment', 'worker').spec).toHaveProperty('replicas', 6)
  })

  test.each<[Component, string, object, object]>([
    ['gateway', '700m', {}, {}],
    ['gateway', '450m', {}, { cpuPercent: 45 }],
    ['gateway', '700m', { resources: { requests: { cpu: null } } }, {}],
    ['worker', '1400m', {}, {}],
    ['worker', '3000m', {}, { cpuPercent: 300 }],
  ])(
    'an autoscaler of %s aims at %s for the container of the component, independent of its request',
    (name, averageValue, values, target) => {
      const scaler = find(
        render(['production'], { [name]: { ...values, autoscaling: { enabled: true, ...target } } }),
        'HorizontalPodAutoscaler',
        name,
      )
      expect(scaler.spec?.['metrics']).toEqual([cpuMetric(name, averageValue)])
    },
  )

  test('delivery with nginx is scaled by each of the two', () => {
    const scaler = find(
      render(['nginx-bucket'], { delivery: { autoscaling: { enabled: true, cpuPercent: 60 } } }),
      'HorizontalPodAutoscaler',
      'delivery',
    )
    expect(scaler.spec?.['metrics']).toEqual([cpuMetric('delivery', '600m'), cpuMetric('nginx', '1200m')])
  })

  test('certificates are issued by the configured issuer, or by a CA of the release', () => {
    const issuer = (set: string) => (find(renderOnce(set), 'Certificate', 'auth').spec as { issuerRef: object }).issuerRef
    expect(issuer('production')).toEqual({ name: 'videos', kind: 'ClusterIssuer', group: 'cert-manager.io' })
    expect(issuer('cloudnativepg')).toEqual({ name: 'videos-vitascope-ca', kind: 'Issuer', group: 'cert-manager.io' })
    expect(find(renderOnce('cloudnativepg'), 'Certificate', 'ca').spec).toMatchObject({ isCA: true })
    expect(findVolume(findPod(renderOnce('gateway-api'), 'auth'), 'tls')?.secret).toMatchObject({ secretName: 'auth-tls' })
    expect(readSettings(renderOnce('evaluation'), 'auth')).not.toHaveProperty('VITASCOPE_TLS_DIR')
  })

  test('the notes show how to read the first API key, and contain no secret', () => {
    const renderNotes = (set: string, ...args: string[]) => {
      const { out, code } = helm([
        'install',
        'videos',
        chart,
        '--dry-run=client',
        '--namespace',
        'vitascope',
        '--values',
        valueSets[set] ?? '',
        ...args,
      ])
      expect(code).toBe(0)
      return { notes: out.slice(out.indexOf('\nNOTES:')), before: out.slice(0, out.indexOf('\nNOTES:')) }
    }
    const { notes } = renderNotes('production')
    expect(notes).toContain("kubectl -n vitascope get secret videos-keys -o jsonpath='{.data.system-key}' | base64 -d")
    expect(notes).toContain('https://video.example.org/v2/video')
    // The result is the same with and without a trailing slash.
    expect(renderNotes('production', '--set', 'publicUrl=https://video.example.org/').notes).toContain('video.example.org/v2/video')
    const evaluation = renderNotes('evaluation')
    expect(evaluation.notes).toContain('port-forward service/videos-vitascope-gateway')
    const generatedSecrets = [...evaluation.before.matchAll(/^ {2}(?:[a-z-]+-key|password|auth|token-keys): (\S{16,})$/gm)].map(
      ([, value = '']) => value,
    )
    expect(generatedSecrets.length).toBeGreaterThanOrEqual(5)
    for (const value of generatedSecrets) {
      expect(evaluation.notes).not.toContain(value)
      expect(evaluation.notes).not.toContain(Buffer.from(value, 'base64').toString())
    }
    expect(renderNotes('workers-alone').notes).toContain('Deployed components: worker.')
  })

  test('generated keys have valid formats, and are kept when the release is removed', () => {
    const { data = {}, metadata } = find(renderOnce('evaluation'), 'Secret', 'keys')
    const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString()
    expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
    expect(text('master-key').length).toBeGreaterThanOrEqual(32)
    expect(text('system-key')).toMatch(/^[A-Za-z0-9_-]{20,128}$/)
    const pairs = Object.keys(data).filter((name) => name.endsWith('.key'))
    expect(pairs).toHaveLength(8)
    for (const name of pairs) {
      const [derivedKey, publicKey] = [createPublicKey(text(name)), createPublicKey(text(name.replace('.key', '.pub')))]
      expect([name, derivedKey.asymmetricKeyType, derivedKey.equals(publicKey)]).toEqual([name, 'ed25519', true])
    }
    expect(render(['production']).filter(({ kind }) => kind === 'Secret')).toEqual([])
  })

  test.each(components.filter((name) => name !== 'worker'))('%s can be deployed alone', (name) => {
    const remoteAddresses = Object.fromEntries(
      components.map((otherComponent) => {
        const addresses = ['gateway', 'web', 'worker'].includes(otherComponent) ? {} : { address: `${otherComponent}.elsewhere:1` }
        return [
          otherComponent,
          {
            enabled: otherComponent === name,
            ...(otherComponent === name ? {} : addresses),
            ...(otherComponent === 'encoding' && { uploadAddress: 'encoding.elsewhere:2' }),
          },
        ]
      }),
    )
    const manifests = render(['gateway-api'], {
      ...remoteAddresses,
      httpRoute: { enabled: false },
      networkPolicy: { otherNamespaces: ['elsewhere'] },
    })
    const renderedComponents = new Set(workloads(manifests).map(({ component }) => component.replace('-migrate', '')))
    // The pod of `helm test` belongs to the gateway.
    expect([...renderedComponents]).toEqual(name === 'gateway' ? ['gateway', 'test'] : [name])
    const addresses = Object.entries(readSettings(manifests, name)).filter(
      ([setting]) => /_ADDRESS$|_URL$/.test(setting) && !/PUBLIC/.test(setting),
    )
    for (const [, address] of addresses) expect(address).toMatch(/^(https:\/\/)?[a-z]+\.elsewhere:[12]$/)
  })
})
