import { PLAYBACK_KINDS, RULE_LIMITS, VALUE_FAULTS } from '@vitascope/playback-policy'
import { PlaybackDefault, type PlaybackRule, type PlaybackRules } from '@vitascope/proto/catalogue/v1/playback_rules'
import { z } from 'zod'
import { clearable, flag, list, map, object, oneOf, text, timestamp } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp } from '../../server/schema/response-format.ts'

const MAX_URL_LENGTH = 2_048
const DECISIONS = ['allow', 'deny'] as const

// An empty condition would be true for every request. It is rejected, because a program that collects the values may find none.
const values = (name: keyof typeof VALUE_FAULTS, maxLength: number, description: string, example: readonly string[]) =>
  list(text(maxLength, { min: 1, findFault: VALUE_FAULTS[name] }), { min: 1, max: RULE_LIMITS.values }, { description, example }).optional()

const conditionFields = z.strictObject({
  domain: values('domain', 260, 'Domains of the page that embeds the player. `*.example.com` matches every domain below `example.com`.', [
    'example.com',
    '*.example.com',
  ]),
  referrer: values('referrer', MAX_URL_LENGTH, 'URLs of that page without query. A final `*` matches any rest of the path.', [
    'https://example.com/courses/*',
  ]),
  country: values('country', 2, 'ISO 3166-1 codes of the country of the address.', ['DE', 'AT']),
  unknown_country: flag({
    description: 'Whether the country condition is true if the country is unknown. It is required with `country`.',
  }).optional(),
  cidr: values('cidr', 100, 'IPv4 and IPv6 addresses and networks.', ['192.0.2.0/24']),
  claim: map(
    list(text(RULE_LIMITS.claimLength), { min: 1, max: RULE_LIMITS.values }),
    { min: 1, max: RULE_LIMITS.values, key: /^.{1,100}$/su, keyMessage: 'names must have 1 to 100 characters' },
    {
      description: 'Accepted values of claims of the token, by name. Each claim must have one of its values.',
      example: { group: ['staff'] },
    },
  ).optional(),
  kind: list(
    oneOf(PLAYBACK_KINDS),
    { min: 1, max: PLAYBACK_KINDS.length },
    {
      description: 'What is requested: `page` is the player page, `manifest` the playlists, and `download` ' + 'files that are saved.',
      example: ['manifest', 'segment'],
    },
  ).optional(),
  time: object(
    z
      .strictObject({
        from: timestamp({ description: 'True from this time on. UTC.' }).optional(),
        until: timestamp({ description: 'True until this time, exclusively. UTC.' }).optional(),
      })
      .refine(({ from, until }) => from || until, 'must have `from` or `until`'),
    { description: 'Time of the request.' },
  ).optional(),
})

// Only valid conditions are compared.
const conditions = conditionFields.refine(({ country, unknown_country }) => unknown_country === undefined || country, {
  path: ['unknown_country'],
  message: 'is only for rules with `country`',
})

const rule = z.strictObject({
  name: text(RULE_LIMITS.nameLength, {}, { description: 'Name for explanations and reports.', example: 'Only our sites' }).optional(),
  when: object(conditions, {
    description: 'Conditions, all of which must be true. A list is true if one of its values matches. Omitted ones are always true.',
  }).optional(),
  // biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
  then: oneOf(DECISIONS, { description: 'The decision.' }),
  message: text(RULE_LIMITS.messageLength, {}, { description: 'Text for viewers that the rule denies.' }).optional(),
  report_only: flag({ description: '`1`: the rule decides nothing and only counts the requests that it would deny.' }).optional(),
})

/** Payload that replaces all rules. */
export const ruleChanges = z.strictObject({
  default: clearable(
    oneOf(DECISIONS, {
      description:
        'Decision if no rule decides. If it is omitted or null, videos inherit it from their organisation, and organisations allow.',
    }),
  ).optional(),
  rules: list(
    rule,
    { max: RULE_LIMITS.rules },
    { description: 'The rules in their order. The first one whose conditions are true decides.', example: [] },
  ),
})

export type RuleChanges = z.output<typeof ruleChanges>

/** Rules as responses have them. */
export const PlaybackRulesResponse = z.object({
  default: z.enum(DECISIONS).nullable().meta({ description: 'Decision if no rule decides; null if it is inherited.' }),
  rules: z
    .array(
      z.object({
        name: z.string(),
        when: z.record(z.string(), z.unknown()).meta({ description: 'The conditions that are set, as they were sent.' }),
        // biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
        then: z.enum(DECISIONS),
        message: z.string(),
        report_only: z.boolean(),
      }),
    )
    .meta({ description: 'The rules in their order.' }),
  updated: z.string().meta({ description: 'Time of the last change. UTC. Empty if there was none.', example: '2030-12-31 23:59:59' }),
})

export function rulesMessage({ default: defaultDecision, rules }: RuleChanges): PlaybackRules {
  const defaults = { allow: PlaybackDefault.PLAYBACK_DEFAULT_ALLOW, deny: PlaybackDefault.PLAYBACK_DEFAULT_DENY }
  return {
    defaultDecision: defaultDecision ? defaults[defaultDecision] : PlaybackDefault.PLAYBACK_DEFAULT_UNSPECIFIED,
    rules: rules.map(({ name = '', when = {}, message = '', report_only: reportOnly = false, ...one }) => ({
      ...{ name, message, reportOnly, allows: one.then === 'allow' },
      when: {
        domain: when.domain ?? [],
        referrer: when.referrer ?? [],
        country: when.country ?? [],
        unknownCountry: when.unknown_country,
        cidr: when.cidr ?? [],
        claim: Object.entries(when.claim ?? {}).map(([claim, accepted]) => ({ name: claim, values: accepted })),
        kind: when.kind ?? [],
        from: when.time?.from,
        until: when.time?.until,
      },
    })),
  }
}

export function rulesResponse(
  { defaultDecision, rules }: PlaybackRules,
  updateTime: Date | undefined,
): z.input<typeof PlaybackRulesResponse> {
  const names = { [PlaybackDefault.PLAYBACK_DEFAULT_ALLOW]: 'allow', [PlaybackDefault.PLAYBACK_DEFAULT_DENY]: 'deny' } as const
  return {
    default: Object.entries(names).find(([name]) => name === defaultDecision)?.[1] ?? null,
    rules: rules.map(({ name, when, allows, message, reportOnly }) => ({
      ...{ name, when: conditionsResponse(when), message, report_only: reportOnly },
      // biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
      then: allows ? 'allow' : 'deny',
    })),
    updated: formatOptionalTimestamp(updateTime),
  }
}

/** Returns only the conditions that are set. */
function conditionsResponse(when: PlaybackRule['when']): Record<string, unknown> {
  if (!when) return {}
  const { domain, referrer, country, unknownCountry, cidr, claim, kind, from, until } = when
  const lists = Object.entries({ domain, referrer, country, cidr, kind }).filter(([, set]) => set.length > 0)
  return {
    ...Object.fromEntries(lists),
    ...(unknownCountry !== undefined && { unknown_country: unknownCountry }),
    ...(claim.length > 0 && { claim: Object.fromEntries(claim.map((one) => [one.name, one.values])) }),
    ...((from || until) && {
      time: { ...(from && { from: formatOptionalTimestamp(from) }), ...(until && { until: formatOptionalTimestamp(until) }) },
    }),
  }
}
