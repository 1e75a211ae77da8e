import { expect, test } from '@jest/globals'
import { compileRules, findRestrictingClaims, RULE_LIMITS, type RuleFields } from './rules.ts'

const NO_CONDITIONS = { domain: [], referrer: [], country: [], cidr: [], claim: [], kind: [] }
const buildRule = (when: Partial<RuleFields['when']> = {}, more: Partial<RuleFields> = {}): RuleFields => ({
  ...{ name: '', message: '', allows: false, reportOnly: false, when: { ...NO_CONDITIONS, ...when } },
  ...more,
})
const many = (count: number, text: (nth: number) => string) => Array.from({ length: count }, (_, nth) => text(nth))

test.each<[string, RuleFields, string[]]>([
  ['a network', buildRule({ cidr: ['192.0.2.0/24', '300.0.0.1', '192.0.2.0/33'] }), ['when.cidr[1]', 'when.cidr[2]']],
  ['a domain', buildRule({ domain: ['ok.example', 'w*w.example'] }), ['when.domain[1]']],
  [
    'a country',
    buildRule({ country: ['DE', 'UK', 'de', 'ZZ'], unknownCountry: false }),
    ['when.country[1]', 'when.country[2]', 'when.country[3]'],
  ],
  ['a country condition that does not cover unknown ones', buildRule({ country: ['DE'] }), ['when.unknown_country']],
  ['a kind', buildRule({ kind: ['page', 'movie'] }), ['when.kind[1]']],
  [
    'a referrer',
    buildRule({
      referrer: ['https://a.example/x*', 'https://a.example*', 'ftp://a.example/', 'https://u@a.example/', 'https://a.example/?q'],
    }),
    ['when.referrer[1]', 'when.referrer[2]', 'when.referrer[3]', 'when.referrer[4]'],
  ],
  ['a time', buildRule({ from: new Date(2), until: new Date(1) }), ['when.time.until']],
  ['a claim without values', buildRule({ claim: [{ name: 'group', values: [] }] }), ['when.claim.group']],
  ['a message of an allowing rule', buildRule({}, { allows: true, message: 'no' }), ['message']],
  ['an allowing rule that only reports', buildRule({}, { allows: true, reportOnly: true }), ['report_only']],
  ['a long name and a long message', buildRule({}, { name: 'n'.repeat(101), message: 'm'.repeat(501) }), ['name', 'message']],
  ['too many values', buildRule({ domain: many(RULE_LIMITS.values + 1, (nth) => `d${nth}.example`) }), ['when.domain']],
])('names every bad field of %s', (_, rule, fields) => {
  const { errors } = compileRules([buildRule(), rule])
  expect(errors?.map(({ field }) => field)).toEqual(fields.map((field) => `rules[1].${field}`))
})

test('names every claim that restricts the token, and accepts it in stored rules', () => {
  const claim = ['group', 'country', 'jti'].map((name) => ({ name, values: ['x'] }))
  const rules = [buildRule(), buildRule({ claim })]
  expect(findRestrictingClaims(rules).map(({ field }) => field)).toEqual(['rules[1].when.claim.country'])
  expect(compileRules(rules).rules).toHaveLength(2)
})

test('rejects more rules than the limit', () => {
  expect(compileRules(Array.from({ length: RULE_LIMITS.rules }, () => buildRule())).rules).toHaveLength(RULE_LIMITS.rules)
  expect(compileRules(Array.from({ length: RULE_LIMITS.rules + 1 }, () => buildRule())).errors).toEqual([
    { field: 'rules', message: 'must have at most 100 rules' },
  ])
})
