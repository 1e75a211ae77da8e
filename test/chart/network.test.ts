// Faults: K4
import { expect, test } from '@jest/globals'
import { components, describeChart, find, type Manifest, readSettings, render } from './support/chart.ts'

/**
 * Connections between components, as in ARCHITECTURE.md. They are repeated here, so that an error
 * in the chart's table fails this test.
 */
const arrows: Record<string, string[]> = {
  gateway: ['auth:50051', 'catalogue:50051', 'encoding:50051', 'encoding:8081', 'collaboration:50051', 'analytics:50051', 'delivery:8080'],
  web: ['auth:50051', 'catalogue:50051', 'encoding:50051', 'encoding:8081', 'collaboration:50051', 'analytics:50051', 'delivery:8080'],
  auth: ['catalogue:50051'],
  catalogue: ['auth:50051', 'encoding:50051'],
  encoding: ['catalogue:50051'],
  worker: ['encoding:50051'],
  delivery: ['catalogue:50051', 'encoding:50051'],
  collaboration: ['auth:50051', 'catalogue:50051'],
  analytics: ['catalogue:50051'],
}

/** Ports for clients, which the pod of `helm test` also calls. */
const testedPorts: Record<string, string> = { gateway: 'http', delivery: 'public' }

/** Systems outside of the release that each component may call. */
const outside: Record<string, string[]> = {
  gateway: ['redis'],
  web: ['redis'],
  auth: ['database', 'oidc'],
  catalogue: ['database', 'mail', 'public'],
  encoding: ['database', 'storage', 'public'],
  worker: ['storage'],
  delivery: ['storage'],
  collaboration: ['database'],
  analytics: ['database'],
}
/** Systems by their addresses in the values `production`. */
const addresses: Record<string, string> = {
  '192.0.2.10/32': 'database',
  '192.0.2.11/32': 'redis',
  '192.0.2.12/32': 'storage',
  '192.0.2.13/32': 'mail',
  '192.0.2.14/32': 'oidc',
  '0.0.0.0/0': 'public',
  '2000::/3': 'public',
  '10.20.0.0/16': 'public',
}

interface Peer {
  podSelector?: { matchLabels: Record<string, string> }
  namespaceSelector?: unknown
  ipBlock?: { cidr: string; except?: string[] }
}
interface Rule {
  ports?: { port: number | string; endPort?: number; protocol: string }[]
  from?: Peer[]
  to?: Peer[]
}
const findPolicy = (manifests: Manifest[], component: string) =>
  find(manifests, 'NetworkPolicy', component).spec as { ingress: Rule[]; egress: Rule[]; policyTypes: string[] }
const readComponent = (peer: Peer) => peer.podSelector?.matchLabels['app.kubernetes.io/component']

describeChart('the network', () => {
  let manifests: Manifest[] = []
  const production = () => {
    if (manifests.length === 0) manifests = render(['production'])
    return manifests
  }

  test.each(components)('%s has egress only to its documented targets', (component) => {
    const { egress, policyTypes } = findPolicy(production(), component)
    expect(policyTypes.sort()).toEqual(['Egress', 'Ingress'])
    const inside = egress.flatMap(({ to = [], ports = [] }) =>
      to.filter((peer) => readComponent(peer) !== undefined).flatMap((peer) => ports.map(({ port }) => `${readComponent(peer)}:${port}`)),
    )
    expect(inside.sort()).toEqual([...(arrows[component] ?? [])].sort())
    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => (ipBlock ? [addresses[ipBlock.cidr] ?? ipBlock.cidr] : [])))
    expect([...new Set(blocks)].sort()).toEqual([...(outside[component] ?? [])].sort())
    const rest = egress.flatMap(({ to = [] }) => to.filter((peer) => readComponent(peer) === undefined && !peer.ipBlock))
    expect(rest).toHaveLength(1)
    expect(rest[0]).toMatchObject({ podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } })
  })

  test('with a proxy for sources, encoding has no access to public addresses, and catalogue has it for webhooks', () => {
    const values = {
      proxy: { url: 'http://192.0.2.21:3128' },
      networkPolicy: { peers: { proxy: [{ ipBlock: { cidr: '192.0.2.21/32' } }] }, ports: { proxy: [3128] } },
    }
    const withProxy = render(['production'], values)
    const blocks = (component: string) =>
      findPolicy(withProxy, component).egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr] : [])))
    expect(blocks('encoding').sort()).toEqual(['192.0.2.10/32', '192.0.2.12/32', '192.0.2.21/32'])
    expect(blocks('catalogue')).toEqual(expect.arrayContaining(['192.0.2.21/32', '0.0.0.0/0']))
    const users = components.filter((component) => blocks(component).includes('192.0.2.21/32'))
    expect(users).toEqual(['catalogue', 'encoding'])
    const rule = findPolicy(withProxy, 'encoding').egress.find(({ to = [] }) => to.some(({ ipBlock }) => ipBlock?.cidr === '192.0.2.21/32'))
    expect(rule?.ports).toEqual([{ port: 3128, protocol: 'TCP' }])
    for (const component of users) expect(readSettings(withProxy, component)['VITASCOPE_SOURCE_PROXY']).toBe('http://192.0.2.21:3128')
    expect(readSettings(render(['identity']), 'encoding')['VITASCOPE_SOURCE_PROXY_FILE']).toBe('/etc/vitascope/proxy/url')
  })

  test('gateways use the Sentinels of Redis, without a URL', () => {
    const withSentinels = render(['identity'])
    const settings = readSettings(withSentinels, 'gateway')
    expect(settings).toMatchObject({
      VITASCOPE_REDIS_SENTINELS: 'sentinel-0:26379,sentinel-1:26379,[2001:db8::3]:26379',
      VITASCOPE_REDIS_SENTINEL_NAME: 'videos',
      VITASCOPE_REDIS_SENTINEL_PASSWORD_FILE: '/etc/vitascope/sentinel/password',
    })
    expect(settings).not.toHaveProperty('VITASCOPE_REDIS_URL_FILE')
    const { egress } = findPolicy(withSentinels, 'gateway')
    expect(egress.some(({ to = [] }) => to.some(({ ipBlock }) => ipBlock?.cidr === '192.0.2.11/32'))).toBe(true)
    expect(readSettings(render(['production']), 'gateway')).not.toHaveProperty('VITASCOPE_REDIS_SENTINEL_NAME')
  })

  test('gateways use the nodes of a Redis Cluster', () => {
    const nodes = ['node-0:6379', '[2001:db8::4]:6379']
    const settings = readSettings(render(['production'], { redis: { cluster: { nodes } } }), 'gateway')
    expect(settings).toMatchObject({ VITASCOPE_REDIS_CLUSTER_NODES: 'node-0:6379,[2001:db8::4]:6379' })
    expect(readSettings(render(['production']), 'gateway')).not.toHaveProperty('VITASCOPE_REDIS_CLUSTER_NODES')
  })

  test('all pods, those of Jobs too, may connect to the receiver of traces only on its port', () => {
    const manifests = render(['jobs'])
    for (const name of [...components.filter((component) => component !== 'web'), 'encode']) {
      const rules = findPolicy(manifests, name).egress.filter(({ to = [] }) =>
        to.some(({ podSelector }) => podSelector?.matchLabels['app'] === 'collector'),
      )
      expect([name, rules.map(({ ports }) => ports)]).toEqual([name, [[{ port: 4318, protocol: 'TCP' }]]])
    }
    expect(readSettings(manifests, 'gateway')).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.monitoring:4318',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: '/etc/vitascope/tracing/headers',
    })
    expect(Object.keys(readSettings(production(), 'gateway')).filter((name) => name.startsWith('OTEL_'))).toEqual([])
  })

  test.each(components)('%s accepts ingress only from its documented callers, and from readers of metrics', (component) => {
    const { ingress } = findPolicy(production(), component)
    const callers = ingress.flatMap(({ from = [], ports = [] }) =>
      from
        .filter((peer) => readComponent(peer) !== undefined)
        .flatMap((peer) => ports.map(({ port }) => `${readComponent(peer)} to ${port}`)),
    )
    const names: Record<string, string> = { 50051: 'grpc', 8080: 'http', 8081: 'upload' }
    const documented = Object.entries(arrows).flatMap(([caller, callees]) =>
      callees
        .map((callee) => callee.split(':'))
        .filter(([callee]) => callee === component)
        .map(([, port = '']) => `${caller} to ${names[port]}`),
    )
    const tested = component in testedPorts ? [`test to ${testedPorts[component]}`] : []
    expect(callers.sort()).toEqual([...documented, ...tested].sort())
    const otherRules = ingress
      .filter(({ from = [] }) => from.every((peer) => readComponent(peer) === undefined))
      .flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    const publicPorts: Partial<Record<typeof component, string[]>> = { gateway: ['http'], web: ['http'], delivery: ['public'] }
    const publicPort = publicPorts[component] ?? []
    expect(otherRules.sort()).toEqual([...publicPort, 'metrics'].sort())
  })

  test('a separate database of one component does not block that of the others', () => {
    const values = {
      catalogue: { database: { existingSecret: 'catalogue-database' } },
      networkPolicy: { peers: { database: [{ ipBlock: { cidr: '192.0.2.10/32' } }] } },
    }
    for (const component of ['auth', 'catalogue']) {
      const peers = findPolicy(render(['cloudnativepg'], values), component).egress.flatMap(({ to = [] }) => to)
      expect(peers).toContainEqual({ podSelector: { matchLabels: { 'cnpg.io/cluster': 'videos' } } })
      expect(peers).toContainEqual({ ipBlock: { cidr: '192.0.2.10/32' } })
    }
  })

  test('the public internet excludes private networks', () => {
    for (const component of ['catalogue', 'encoding']) {
      const blocks = findPolicy(production(), component).egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []))
      const except = blocks.find(({ cidr }) => cidr === '0.0.0.0/0')?.except ?? []
      for (const network of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8', '100.64.0.0/10'])
        expect(except).toContain(network)
    }
  })

  test('callers have the addresses of the services', () => {
    for (const component of components) {
      const settings = readSettings(production(), component)
      for (const callee of arrows[component] ?? []) {
        const [name = '', port = ''] = callee.split(':')
        const setting =
          port === '50051'
            ? `VITASCOPE_${name.toUpperCase()}_ADDRESS`
            : port === '8081'
              ? 'VITASCOPE_ENCODING_UPLOAD_URL'
              : 'VITASCOPE_DELIVERY_URL'
        const address = `videos-vitascope-${name}${port === '8081' ? '-upload' : ''}.vitascope.svc.cluster.local:${port}`
        expect([component, setting, settings[setting]?.replace(/^https:\/\//, '')]).toEqual([component, setting, address])
      }
    }
  })

  test('gRPC services are headless for balancing by the client, and HTTP services have a cluster IP', () => {
    const services = production().filter(({ kind }) => kind === 'Service')
    const spread = Object.fromEntries(
      services.map(({ metadata, spec }) => {
        const { clusterIP, ports } = spec as { clusterIP?: string; ports: { name: string }[] }
        return [metadata.name.replace('videos-vitascope-', ''), `${ports.map(({ name }) => name)} ${clusterIP ?? 'by an address'}`]
      }),
    )
    expect(spread).toEqual({
      gateway: 'http by an address',
      web: 'http by an address',
      delivery: 'http by an address',
      'delivery-public': 'public by an address',
      metrics: 'metrics None',
      'encoding-upload': 'upload by an address',
      ...Object.fromEntries(['auth', 'catalogue', 'encoding', 'collaboration', 'analytics'].map((name) => [name, 'grpc None'])),
    })
  })

  test('with TLS, services accept the certificates of their documented callers only', () => {
    for (const component of components) {
      const callers = Object.entries(arrows)
        .filter(([, callees]) => callees.some((callee) => callee.startsWith(`${component}:`)))
        .map(([caller]) => caller)
      const received = readSettings(production(), component)['VITASCOPE_TLS_CALLERS'] ?? ''
      expect(received.split(',').sort()).toEqual(callers.length === 0 ? [''] : callers.sort())
      const { dnsNames } = find(production(), 'Certificate', component).spec as { dnsNames: string[] }
      expect(dnsNames).toEqual(expect.arrayContaining([component, `videos-vitascope-${component}.vitascope.svc.cluster.local`]))
    }
  })

  test('workers of another release are allowed if their namespace is configured', () => {
    const { ingress } = findPolicy(
      render(['production'], { worker: { enabled: false }, networkPolicy: { otherNamespaces: ['encoders'] } }),
      'encoding',
    )
    const workers = ingress.flatMap(({ from = [] }) => from.filter((peer) => readComponent(peer) === 'worker'))
    expect(workers).toEqual([
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'encoders' } },
        podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'vitascope', 'app.kubernetes.io/component': 'worker' } },
      },
    ])
  })
})
