import { expect, test } from '@jest/globals'
import { describeChart, find, readSettings, render } from './support/chart.ts'

describeChart('public access', () => {
  test('the Ingress routes to the gateway, except for the pages that web serves and media files', () => {
    const { rules, tls } = find(render(['production']), 'Ingress', 'gateway').spec as {
      rules: { host: string; http: { paths: { path: string; backend: { service: { name: string; port: { name: string } } } }[] } }[]
      tls: { hosts: string[]; secretName: string }[]
    }
    expect(tls).toEqual([{ hosts: ['video.example.org'], secretName: 'video-example-org' }])
    expect(rules[0]?.host).toBe('video.example.org')
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
    expect([hostnames, parentRefs]).toEqual([['video.example.org'], [{ name: 'public', namespace: 'gateways' }]])
    expect(rules.map(({ matches, backendRefs }) => [matches[0]?.path.value, backendRefs[0]?.name, backendRefs[0]?.port])).toEqual([
      ['/player', 'videos-vitascope-web', 8080],
      ['/upload', 'videos-vitascope-web', 8080],
      ['/delivery', 'videos-vitascope-delivery-public', 8082],
      ['/', 'videos-vitascope-gateway', 8080],
    ])
    for (const { timeouts } of rules) expect(timeouts.request).toBe('0s')
  })
})
