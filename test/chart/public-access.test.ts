import { expect, test } from '@jest/globals'
import { describeChart, find, readSettings, render, renderError } from './support/chart.ts'

describeChart('public access', () => {
  test('the Ingress routes to the gateway, except for the pages that web serves and media files', () => {
    const { rules, tls } = find(render(['production']), 'Ingress', 'gateway').spec as {
      rules: { host: string; http: { paths: { path: string; backend: { service: { name: string; port: { name: string } } } }[] } }[]
      tls: { hosts: string[]; secretName: string }[]
    }
    // Each host with its own certificate. The last one has none.
    expect(tls).toEqual([
      { hosts: ['video.example.org'], secretName: 'video-example-org' },
      { hosts: ['videos.example.net'], secretName: 'videos-example-net' },
    ])
    expect(rules.map(({ host }) => host)).toEqual(['video.example.org', 'videos.example.net', '*.internal.example.org'])
    for (const { http } of rules) expect(http).toEqual(rules[0]?.http)
    expect(rules[0]?.http.paths.map(({ path, backend }) => [path, backend.service.name, backend.service.port.name])).toEqual([
      ['/player', 'videos-vitascope-web', 'http'],
      ['/upload', 'videos-vitascope-web', 'http'],
      ['/delivery', 'videos-vitascope-delivery-public', 'public'],
      ['/', 'videos-vitascope-gateway', 'http'],
    ])
  })

  test('delivery serves viewers directly with the limits and trusted proxies of the gateway, unless that is disabled', () => {
    const direct = readSettings(render(['production']), 'delivery')
    const gateway = readSettings(render(['production']), 'gateway')
    expect(direct['VITASCOPE_DELIVERY_PUBLIC_LISTEN']).toMatch(/:8082$/)
    for (const name of ['VITASCOPE_LIMITS', 'VITASCOPE_TRUST_PROXY']) expect([name, direct[name]]).toEqual([name, gateway[name]])
    const indirect = render(['production'], { delivery: { direct: false } })
    expect(readSettings(indirect, 'delivery')).not.toHaveProperty('VITASCOPE_DELIVERY_PUBLIC_LISTEN')
    const text = JSON.stringify(indirect)
    expect(['delivery-public', '"/delivery"', '"port":"public"'].filter((absent) => text.includes(absent))).toEqual([])
  })

  test('the HTTPRoute has the same paths and no request timeout', () => {
    const { hostnames, parentRefs, rules } = find(render(['gateway-api']), 'HTTPRoute', 'gateway').spec as {
      hostnames: string[]
      parentRefs: object[]
      rules: { matches: { path: { value: string } }[]; backendRefs: { name: string; port: number }[]; timeouts: { request: string } }[]
    }
    expect(hostnames).toEqual(['video.example.org', 'videos.example.net', '*.example.com'])
    expect(parentRefs).toEqual([{ name: 'public', namespace: 'gateways' }])
    expect(rules.map(({ matches, backendRefs }) => [matches[0]?.path.value, backendRefs[0]?.name, backendRefs[0]?.port])).toEqual([
      ['/player', 'videos-vitascope-web', 8080],
      ['/upload', 'videos-vitascope-web', 8080],
      ['/delivery', 'videos-vitascope-delivery-public', 8082],
      ['/', 'videos-vitascope-gateway', 8080],
    ])
    for (const { timeouts } of rules) expect(timeouts.request).toBe('0s')
  })

  test('further hosts do not depend on the main host having a certificate, and the main host can be set', () => {
    const ingress = { host: 'proxy.example.org', tlsSecret: '', additionalHosts: [{ host: 'a.example.org', tlsSecret: 'a' }] }
    const { rules, tls } = find(render(['production'], { ingress }), 'Ingress', 'gateway').spec as {
      rules: { host: string }[]
      tls: object[]
    }
    expect(rules.map(({ host }) => host)).toEqual(['proxy.example.org', 'a.example.org'])
    expect(tls).toEqual([{ hosts: ['a.example.org'], secretName: 'a' }])
    const alone = find(render(['production'], { ingress: { tlsSecret: '', additionalHosts: [] } }), 'Ingress', 'gateway')
    expect(alone.spec).not.toHaveProperty('tls')
  })

  test.each([
    ['production', { ingress: { additionalHosts: [{ host: 'video.example.org' }] } }, 'remove it from `ingress.additionalHosts`'],
    ['gateway-api', { httpRoute: { additionalHosts: ['a.example.org', 'a.example.org'] } }, 'has the host a.example.org twice'],
    ['production', { ingress: { additionalHosts: [{ host: 'https://a.example.org' }] } }, "at '/ingress/additionalHosts/0/host'"],
    ['production', { ingress: { additionalHosts: [{ tlsSecret: 'a' }] } }, "missing property 'host'"],
    ['production', { ingress: { additionalHosts: [{ host: 'a.example.org', secret: 'a' }] } }, "'secret' not allowed"],
    ['gateway-api', { httpRoute: { additionalHosts: [''] } }, "at '/httpRoute/additionalHosts/0'"],
  ])('rejects values %s with %j', (set, values, sentence) => {
    expect(renderError([set], values)).toContain(sentence)
  })
})
