import { describe, expect, test } from '@jest/globals'
import { parseAddressRules } from '@vitascope/security'
import fc from 'fast-check'
import { type Decision, decide, type PlaybackPolicy, type PlaybackRequest, type TokenClaims } from './decide.ts'
import { parseDomainPattern } from './domain.ts'
import { frameAncestors, intersectFrameAncestors } from './frame-ancestors.ts'
import { compileRules, PLAYBACK_KINDS, type RuleFields } from './rules.ts'

const NO_CONDITIONS = { domain: [], referrer: [], country: [], cidr: [], claim: [], kind: [] }
const buildRule = (when: Partial<RuleFields['when']> = {}, more: Partial<RuleFields> = {}): RuleFields => ({
  ...{ name: '', message: '', allows: false, reportOnly: false, when: { ...NO_CONDITIONS, ...when } },
  ...more,
})
const allow = (when: Partial<RuleFields['when']> = {}) => buildRule(when, { allows: true })
const compile = (...rules: RuleFields[]) => {
  const compiled = compileRules(rules)
  if (compiled.errors) throw new Error(JSON.stringify(compiled.errors))
  return compiled.rules
}
const OPEN: PlaybackPolicy = {
  ...{
    expires: undefined,
    isPrivate: false,
    tokenRequired: undefined,
    allowed: [],
    videoRules: [],
    organisationRules: [],
    allowsByDefault: true,
  },
}
const NOW = new Date('2026-01-15T12:00:00Z')
const REQUEST: PlaybackRequest = {
  ...{ kind: 'segment', address: '192.0.2.7', referrer: 'https://www.example.com/course/1', domain: 'www.example.com' },
  ...{ isOwnPage: false, country: 'DE', height: 720, now: NOW, token: undefined },
}
const withToken = (claims: Partial<TokenClaims>): Partial<PlaybackRequest> => ({ token: { claims: { custom: new Map(), ...claims } } })
const decideWith = (policy: Partial<PlaybackPolicy>, request: Partial<PlaybackRequest> = {}): Decision =>
  decide({ ...OPEN, ...policy }, { ...REQUEST, ...request })

test('a policy without rules allows every kind', () => {
  for (const kind of PLAYBACK_KINDS) expect(decideWith({}, { kind })).toEqual({ allowed: true, decidedBy: 'default', reported: [] })
})

describe('a condition', () => {
  const pattern = (text: string) => parseDomainPattern(text) ?? { domain: '', subdomains: false }
  test.each<[string, Partial<RuleFields['when']>, Partial<PlaybackRequest>, boolean]>([
    ['domain', { domain: ['*.example.com'] }, {}, true],
    ['domain', { domain: ['*.example.com'] }, { domain: 'example.org' }, false],
    ['domain', { domain: ['*.example.com'] }, { domain: undefined }, false],
    ['referrer', { referrer: ['https://www.example.com/course/*'] }, {}, true],
    ['referrer', { referrer: ['https://www.example.com/course/1'] }, { referrer: 'https://www.example.com/course/1?session=2#x' }, true],
    ['referrer', { referrer: ['https://www.example.com/course/*'] }, { referrer: 'https://www.example.com/other' }, false],
    ['referrer', { referrer: ['https://www.example.com/*'] }, { referrer: 'https://www.example.com.evil.example/' }, false],
    ['referrer', { referrer: ['https://www.example.com/*'] }, { referrer: 'https://www.example.com@evil.example/' }, false],
    ['referrer', { referrer: ['https://www.example.com/*'] }, { referrer: undefined }, false],
    ['country', { country: ['AT', 'DE'], unknownCountry: false }, {}, true],
    ['country', { country: ['AT'], unknownCountry: true }, {}, false],
    ['country', { country: ['AT'], unknownCountry: true }, { country: undefined }, true],
    ['country', { country: ['AT'], unknownCountry: false }, { country: undefined }, false],
    ['cidr', { cidr: ['192.0.2.0/24'] }, {}, true],
    ['cidr', { cidr: ['192.0.2.0/24'] }, { address: '::ffff:192.0.2.9' }, true],
    ['cidr', { cidr: ['192.0.2.0/24'] }, { address: '198.51.100.1' }, false],
    ['cidr', { cidr: ['192.0.2.0/24'] }, { address: 'not an address' }, false],
    ['kind', { kind: ['page', 'segment'] }, {}, true],
    ['kind', { kind: ['page'] }, {}, false],
    ['time', { from: NOW }, {}, true],
    ['time', { until: NOW }, {}, false],
    ['time', { from: new Date(NOW.getTime() - 1), until: new Date(NOW.getTime() + 1) }, {}, true],
    ['claim', { claim: [{ name: 'group', values: ['staff', 'pupils'] }] }, withToken({ custom: new Map([['group', ['pupils']]]) }), true],
    ['claim', { claim: [{ name: 'group', values: ['staff'] }] }, withToken({ custom: new Map([['group', ['pupils', 'staff']]]) }), true],
    ['claim', { claim: [{ name: 'group', values: ['staff'] }] }, withToken({ custom: new Map([['group', ['pupils']]]) }), false],
    ['claim', { claim: [{ name: 'group', values: ['staff'] }] }, {}, false],
    ['claim', { claim: [{ name: 'toString', values: ['staff'] }] }, withToken({}), false],
    ['of two kinds', { country: ['DE'], unknownCountry: false, cidr: ['198.51.100.0/24'] }, {}, false],
  ])('%s: %j', (_, when, request, fires) => {
    expect(decideWith({ videoRules: compile(buildRule(when)) }, request).allowed).toBe(!fires)
    expect(decideWith({ videoRules: compile(allow(when)), allowsByDefault: false }, request).allowed).toBe(fires)
  })

  test.each<[string, Partial<TokenClaims>, Partial<PlaybackRequest>, string | undefined]>([
    ['address', { address: '192.0.2.7' }, {}, undefined],
    ['address', { address: '192.0.2.8' }, {}, 'token_wrong_address'],
    ['country', { country: 'DE' }, { country: undefined }, 'token_wrong_country'],
    ['domain', { domains: [pattern('*.example.com')] }, {}, undefined],
    ['domain', { domains: [pattern('*.example.com')] }, { domain: undefined }, 'token_wrong_domain'],
    ['kind', { kinds: new Set(['manifest', 'segment']) }, {}, undefined],
    ['kind', { kinds: new Set(['manifest', 'segment']) }, { kind: 'download' }, 'token_wrong_kind'],
    ['kind', { kinds: new Set(['manifest', 'segment']) }, { kind: 'page' }, undefined],
    ['height', { maxHeight: 720 }, {}, undefined],
    ['height', { maxHeight: 480 }, {}, 'token_wrong_height'],
    ['height', { maxHeight: 480 }, { height: undefined }, undefined],
  ])('of a token on its %s: %j', (_, claims, request, code) => {
    expect(decideWith({ tokenRequired: 'token' }, { ...withToken(claims), ...request }).code).toBe(code)
  })
})

describe('the order', () => {
  const everything: Partial<PlaybackPolicy> = {
    expires: NOW,
    tokenRequired: 'token',
    allowed: parseAddressRules(['198.51.100.0/24']).rules ?? [],
    videoRules: compile(buildRule({}, { name: 'video', message: 'not for you' })),
    organisationRules: compile(allow()),
  }
  const later = new Date(NOW.getTime() + 1)
  const good = withToken({})
  test.each<[string, Partial<PlaybackPolicy>, Partial<PlaybackRequest>, Partial<Decision>]>([
    ['expiry', everything, good, { code: 'not_found', decidedBy: 'expiry' }],
    [
      'token',
      { ...everything, expires: later },
      { token: { rejection: { code: 'token_expired', claim: 'exp' } } },
      { code: 'token_expired', decidedBy: 'token', claim: 'exp' },
    ],
    ['missing token', { ...everything, expires: later }, {}, { code: 'token_required', decidedBy: 'token' }],
    ['token by password', { ...everything, expires: later }, withToken({ isByPassword: true }), { code: 'token_required' }],
    ['password', { ...everything, expires: later, tokenRequired: 'password' }, {}, { code: 'password_required', decidedBy: 'password' }],
    ['address', { ...everything, expires: later }, good, { code: 'address_refused', decidedBy: 'addresses' }],
    [
      'rules of the video',
      { ...everything, expires: later, allowed: [] },
      good,
      { code: 'rule_refused', decidedBy: 'rule', message: 'not for you', rule: { list: 'video', index: 0, name: 'video' } },
    ],
    [
      'rules of the organisation',
      { organisationRules: compile(allow()), allowsByDefault: false },
      {},
      { allowed: true, decidedBy: 'rule', rule: { list: 'organisation', index: 0, name: '' } },
    ],
    ['default', { allowsByDefault: false }, {}, { allowed: false, code: 'rule_refused', decidedBy: 'default' }],
  ])('%s', (_, policy, request, expected) => {
    expect(decideWith(policy, request)).toMatchObject({ allowed: false, ...expected })
  })
  test('the page of a private video is shown to no one, and its files require a token', () => {
    const policy = { isPrivate: true, tokenRequired: 'token' } as const
    expect(decideWith(policy, { kind: 'page', ...good })).toMatchObject({ allowed: false, code: 'not_found', decidedBy: 'visibility' })
    expect(decideWith(policy)).toMatchObject({ allowed: false, code: 'token_required' })
    expect(decideWith(policy, good)).toMatchObject({ allowed: true })
  })
  test('pages are shown without a token and from any address, so that they can explain a rejection', () => {
    expect(decideWith({ tokenRequired: 'password', allowed: everything.allowed ?? [] }, { kind: 'page' }).allowed).toBe(true)
  })
})

test('requests of the own player page were decided by the page that embeds it', () => {
  const ownPage = { isOwnPage: true, domain: 'video.example', referrer: 'https://video.example/player/1' }
  const onlyExample = { videoRules: compile(allow({ domain: ['example.com'], kind: ['page', 'segment'] })), allowsByDefault: false }
  expect(decideWith(onlyExample, ownPage).allowed).toBe(true)
  expect(decideWith(onlyExample, { ...ownPage, kind: 'download' }).allowed).toBe(false)
  expect(decideWith({ videoRules: compile(buildRule({ referrer: ['https://evil.example/*'] })) }, ownPage).allowed).toBe(true)
  expect(decideWith({ videoRules: compile(buildRule()) }, ownPage).allowed).toBe(false)
})

test('a rule that only reports decides nothing', () => {
  const rules = compile(buildRule({}, { name: 'trial', reportOnly: true }), allow(), buildRule({}, { name: 'later', reportOnly: true }))
  expect(decideWith({ organisationRules: rules })).toEqual({
    allowed: true,
    decidedBy: 'rule',
    rule: { list: 'organisation', index: 1, name: '' },
    reported: [{ list: 'organisation', index: 0, name: 'trial' }],
  })
})

test('a rejection names the claim without which an allowing rule did not decide', () => {
  const videoRules = compile(
    allow({ country: ['AT'], unknownCountry: false, claim: [{ name: 'team', values: ['a'] }] }),
    allow({ claim: [{ name: 'group', values: ['staff'] }] }),
  )
  expect(decideWith({ videoRules, allowsByDefault: false })).toEqual({
    ...{ allowed: false, code: 'rule_refused', decidedBy: 'default', claim: 'group', reported: [] },
  })
})

test('the first rule whose conditions are true decides, for random lists', () => {
  const when = fc.record({
    domain: fc.subarray(['www.example.com', '*.example.org']),
    referrer: fc.constant([]),
    country: fc.subarray(['DE', 'AT']),
    unknownCountry: fc.boolean(),
    cidr: fc.subarray(['192.0.2.0/24', '2001:db8::/32']),
    claim: fc.subarray([{ name: 'group', values: ['staff'] }]),
    kind: fc.subarray(['page', 'segment']),
  })
  const rule = fc.record({ name: fc.constant(''), message: fc.constant(''), when, allows: fc.boolean(), reportOnly: fc.boolean() })
  const rules = fc.array(
    rule.map((fields) => ({ ...fields, reportOnly: fields.reportOnly && !fields.allows })),
    { maxLength: 8 },
  )
  const request = fc.record({
    kind: fc.constantFrom('page' as const, 'segment' as const, 'mp4' as const),
    domain: fc.constantFrom('www.example.com', 'a.example.org', 'example.net', undefined),
    country: fc.constantFrom('DE', 'AT', 'FR', undefined),
    address: fc.constantFrom('192.0.2.1', '2001:db8::1', '203.0.113.1'),
    staff: fc.boolean(),
  })
  /** A second implementation, as simple as possible. */
  const isTrue = (
    conditions: RuleFields['when'],
    {
      domain,
      country,
      address,
      kind,
      staff,
    }: { domain: string | undefined; country: string | undefined; address: string; kind: string; staff: boolean },
  ) => {
    if (!conditions) return true
    const isIn = (list: readonly unknown[], check: boolean) => list.length === 0 || check
    const end = domain?.split('.').slice(1).join('.')
    return [
      isIn(
        conditions.domain,
        conditions.domain.some((name) => name === domain || name === `*.${end}`),
      ),
      isIn(conditions.country, country === undefined ? conditions.unknownCountry === true : conditions.country.includes(country)),
      isIn(
        conditions.cidr,
        conditions.cidr.some((network) => network.slice(0, 8) === address.slice(0, 8)),
      ),
      isIn(conditions.claim, staff),
      isIn(conditions.kind, conditions.kind.includes(kind)),
    ].every(Boolean)
  }
  fc.assert(
    fc.property(rules, rules, request, fc.boolean(), (video, organisation, { staff, ...facts }, allowsByDefault) => {
      const decision = decideWith(
        { videoRules: compile(...video), organisationRules: compile(...organisation), allowsByDefault },
        { ...facts, ...(staff && withToken({ custom: new Map([['group', ['staff']]]) })) },
      )
      const first = [...video, ...organisation].find((one) => !one.reportOnly && isTrue(one.when, { ...facts, staff }))
      expect(decision.allowed).toBe(first?.allows ?? allowsByDefault)
    }),
    { numRuns: 3_000 },
  )
})

test.each<[string, Partial<PlaybackPolicy>, string]>([
  ['no rules', {}, '*'],
  [
    'only listed domains',
    { videoRules: compile(allow({ domain: ['example.com', '*.example.org'] })), allowsByDefault: false },
    "'self' http://example.com:* https://example.com:* http://*.example.org:* https://*.example.org:*",
  ],
  ['listed pages', { organisationRules: compile(allow({ referrer: ['https://a.example/x/*'] }), buildRule()) }, "'self' https://a.example"],
  ['a denied domain', { videoRules: compile(buildRule({ domain: ['evil.example'] })) }, '*'],
  ['a country', { videoRules: compile(allow({ country: ['DE'], unknownCountry: false })), allowsByDefault: false }, '*'],
  ['rules for segments only', { videoRules: compile(buildRule({ kind: ['segment'] })) }, '*'],
  ['nothing allowed', { allowsByDefault: false }, "'self'"],
])('frame-ancestors with %s', (_, policy, expected) => {
  expect(frameAncestors({ ...OPEN, ...policy })).toBe(expected)
})

test.each([
  [[], '*'],
  [['*', '*'], '*'],
  [['*', "'self' https://a.example:*"], "'self' https://a.example:*"],
  [["'self' https://a.example:* https://b.example:*", "'self' https://b.example:* https://c.example:*"], "'self' https://b.example:*"],
  [["'self' https://a.example:*", "'self' https://b.example:*"], "'self'"],
])('a page with the frame ancestors %j has %s', (lists, expected) => {
  expect(intersectFrameAncestors(lists)).toBe(expected)
})
