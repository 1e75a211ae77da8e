import { parseArgs } from 'node:util'
import { compileRules, decide, type PlaybackPolicy, type RuleFields, toDomain } from '@vitascope/playback-policy'
import { type ReportFigure, singleValue } from '../figure.ts'

const RULES = 100
const GOAL_MICROSECONDS = 50
const WARM_RUNS = 20_000

/** Measures decisions of a policy with 100 rules, none of which decides: every condition is checked. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({ args, options: { runs: { type: 'string', default: '200000' } } })
  const runs = Number(values.runs)
  if (!runs) throw new Error('--runs must be a number above 0')
  const policy = buildPolicy()
  const times = new Float64Array(runs)
  for (let nth = -WARM_RUNS; nth < runs; nth++) {
    const began = performance.now()
    const referrer = `https://page${nth % 100}.example.net/course/${nth}`
    const { allowed } = decide(policy, {
      ...{ kind: 'segment', address: `203.0.113.${Math.abs(nth) % 250}`, referrer, domain: toDomain(referrer), isOwnPage: false },
      ...{ country: 'FR', height: 720, now: new Date(), token: { claims: { custom: new Map([['group', ['pupils']]]) } } },
    })
    if (nth >= 0) times[nth] = (performance.now() - began) * 1_000
    if (!allowed) throw new Error('a rule decided')
  }
  times.sort()
  const percentile = (share: number) => times[Math.floor(runs * share)] ?? Number.NaN
  report({
    ...{ row: 'decision', title: `p99 of a decision with ${RULES} rules`, unit: 'µs', value: singleValue(percentile(0.99)) },
    ...{ goal: { atMost: GOAL_MICROSECONDS }, detail: `median ${percentile(0.5).toFixed(1)} µs` },
  })
}

function buildPolicy(): PlaybackPolicy {
  const none = { domain: [], referrer: [], country: [], cidr: [], claim: [], kind: [] }
  const rules = Array.from({ length: RULES }, (_, nth): RuleFields => {
    const conditions = [
      { domain: [`site${nth}.example`, `*.site${nth}.example`] },
      { referrer: [`https://page${nth}.example.net/other/*`] },
      { country: ['DE', 'AT'], unknownCountry: false },
      { cidr: [`192.0.2.${nth}/32`, '2001:db8::/32'] },
      { claim: [{ name: 'group', values: ['staff'] }] },
    ]
    return { name: `rule ${nth}`, message: '', allows: false, reportOnly: false, when: { ...none, ...conditions[nth % conditions.length] } }
  })
  const compiled = compileRules(rules)
  if (compiled.errors) throw new Error(JSON.stringify(compiled.errors))
  return {
    ...{ expires: undefined, isPrivate: false, tokenRequired: undefined, allowed: [], organisationRules: [], allowsByDefault: true },
    videoRules: compiled.rules,
  }
}
