// Faults: K1
import { expect, test } from '@jest/globals'
import { describeChart, render, renderError } from './support/chart.ts'

const formatLocation = (setting: string) => `at '/${setting.replaceAll('.', '/')}'`
const nestValue = (setting: string, value: unknown): object =>
  setting.split('.').reduceRight((inner, key) => ({ [key]: inner }), value) as object

describeChart('invalid formats of values are rejected before the cluster changes', () => {
  test.each<[setting: string, wrong: unknown, where?: string]>([
    ['fullnameOverride', 'My_Release'],
    ['nameOverride', 'my platform'],
    ['clusterDomain', ''],
    ['listenHost', '::'],
    ['image.repository', 'vitascope/server:0.1.0'],
    ['image.tag', 'of/today'],
    ['publicUrl', 'https://video example.org'],
    ['corsOrigins', ['example.org'], 'corsOrigins.0'],
    ['trustedProxies', ['10.0.0.256'], 'trustedProxies.0'],
    ['sourceAllow', ['10.0.0.0/33'], 'sourceAllow.0'],
    ['delivery.gatewayNetworks', ['pods'], 'delivery.gatewayNetworks.0'],
    ['limits', 'on'],
    ['secrets.existingSecret', 'Platform Keys'],
    ['redis.key', ''],
    ['database.cloudNativePg.instances', 0],
    ['storage.s3.endpoint', 'https://objects.example.org/videos'],
    ['storage.files.size', 'large'],
    ['backup.restoreAt', 'yesterday'],
    ['analytics.spool.size', '1GB'],
    ['tls.certManager.duration', '30d'],
    ['tls.secrets.auth', 'Auth'],
    ['networkPolicy.peers.database', [{ cidr: '192.0.2.10/32' }], 'networkPolicy.peers.database.0'],
    ['networkPolicy.peers.database', [{}], 'networkPolicy.peers.database.0'],
    ['networkPolicy.ingressFrom', [{ ipBlock: { cidr: '192.0.2.10' } }], 'networkPolicy.ingressFrom.0.ipBlock.cidr'],
    ['networkPolicy.otherNamespaces', ['Other'], 'networkPolicy.otherNamespaces.0'],
    ['shutdown.preStopSeconds', 4],
    ['priorityClasses.serving', 2_000_000_000],
    ['ingress.host', 'https://video.example.org'],
    ['monitoring.serviceMonitor.interval', '30'],
    ['gateway.disruptionBudget.maxUnavailable', 0],
    // A single process would never use more than a core, so that it would never be scaled.
    ['gateway.autoscaling.cpuPercent', 101],
    ['gateway.disruptionBudget.maxUnavailable', '0%'],
    ['gateway.resources.limits', { memory: 'lots' }, 'gateway.resources.limits.memory'],
    ['migrations.resources', { limits: { memory: null } }, 'migrations.resources.limits'],
    ['auth.address', 'auth'],
    ['encoding.uploadAddress', 'dns:///encoding:8081'],
    ['encoding.executor.kubernetes.namespace', 'en.code'],
    ['worker.scaledJob.prometheus', 'prometheus:9090'],
  ])('rejects %s: %j', (setting, wrong, where = setting) => {
    expect(renderError(['production'], nestValue(setting, wrong))).toContain(formatLocation(where))
  })

  test.each<[string, object, string]>([
    ['limits that are not JSON', { limits: '{"key": 5' }, '`limits` is not JSON'],
    [
      'a memory request above the limit',
      { auth: { resources: { requests: { memory: '2Gi' } } } },
      'set `auth.resources.limits.memory` to that or more',
    ],
    [
      'a CPU request above the limit',
      { auth: { resources: { requests: { cpu: 2 }, limits: { cpu: '1900m' } } } },
      'requests.cpu`, 2, is more',
    ],
    [
      'a certificate that expires before its renewal time',
      { tls: { certManager: { duration: '240h' } } },
      'set `tls.certManager.renewBefore` to less',
    ],
    [
      'a certificate duration below an hour',
      { tls: { certManager: { duration: '59m', renewBefore: '5m' } } },
      'set `tls.certManager.duration` to 1h',
    ],
    [
      'a renewal less than five minutes before expiry',
      { tls: { certManager: { renewBefore: '299s' } } },
      'set `tls.certManager.renewBefore` to 5m or more',
    ],
    [
      'an issuer kind without a name',
      { tls: { certManager: { issuer: { name: '' } } } },
      'the name of the ClusterIssuer of cert-manager.io is missing: set `tls.certManager.issuer.name`',
    ],
    ['an Ingress for an IP address', { publicUrl: 'http://192.0.2.1:8080' }, 'set `ingress.host` to the public host name'],
    ['an Ingress for a URL with a path', { publicUrl: 'https://example.org/videos/' }, 'set `publicUrl` to a URL without a path'],
    ['an Ingress for a host in capitals', { publicUrl: 'https://Video.example.org' }, 'set `ingress.host`'],
    [
      'a port setting that conflicts with the Service',
      { gateway: { settings: { VITASCOPE_PORT: 9999 } } },
      '`gateway.settings.VITASCOPE_PORT` conflicts with ports',
    ],
    ['an invalid Service name', { fullnameOverride: '2026-video' }, 'names of Services must begin with a letter, and 2026-video does not'],
  ])('rejects %s', (_, values, sentence) => {
    expect(renderError(['production'], values)).toContain(sentence)
  })

  test('rejects a quota under which no Job could ever have a pod', () => {
    const values = nestValue('encoding.executor.kubernetes.quota', { 'limits.cpu': 64 })
    expect(renderError(['jobs'], values)).toContain('remove `limits.cpu` from `encoding.executor.kubernetes.quota`')
  })

  test('rejects values of the previous version that lack current settings, as with `helm upgrade --reuse-values`', () => {
    expect(renderError(['production'], { authorities: null })).toContain("missing property 'authorities'")
    expect(renderError(['production'], nestValue('worker.scratch.sparePercent', null))).toContain("missing property 'sparePercent'")
  })

  test('accepts each valid format of addresses, quantities, budgets and images', () => {
    const networks = { trustedProxies: ['10.1.2.3', 'fd00::1', 'fd00::/8'], sourceAllow: ['::ffff:10.0.0.0/104', '10.0.0.0/8'] }
    const sizes = { auth: { resources: { requests: { cpu: 0.5, memory: '0.5Gi' }, limits: { memory: 1_073_741_824 } } } }
    const budgets = { web: { disruptionBudget: { maxUnavailable: '25%' } } }
    const image = { image: { repository: 'images.example.org:5000/vitascope/server', digest: '', tag: '0.1.0-rc.1' } }
    expect(render(['production'], { ...networks, ...sizes, ...budgets, ...image }).length).toBeGreaterThan(0)
    const dns = { auth: { enabled: false, address: 'dns:///auth.elsewhere:50051' }, networkPolicy: { otherNamespaces: ['elsewhere'] } }
    expect(render(['production'], dns).length).toBeGreaterThan(0)
  })
})
