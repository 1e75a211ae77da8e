import { DECIDING_PARTS, PLAYBACK_KINDS } from '@vitascope/playback-policy'
import type { FiredPlaybackRule, SetPlaybackRulesRequest } from '@vitascope/proto/catalogue/v1/playback_rules'
import { normaliseAddress } from '@vitascope/security'
import { z } from 'zod'
import { type Context, route } from '../../server/route/route.ts'
import { id, idField, int, oneOf, text, timestamp } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'
import { PlaybackRulesResponse, type RuleChanges, ruleChanges, rulesMessage, rulesResponse } from './playback-rule-fields.ts'

const section = 'Playback rules'
const order = 'The rules of a video come before those of its organisation, and the first rule whose conditions are true decides.'
const replaces = `Replaces all rules. ${order} Delivery applies a change within 5 s.`

type Target = SetPlaybackRulesRequest['target']

async function findRules(target: Target, { services, call }: Context) {
  const { rules, updateTime } = await services.playbackRules.getPlaybackRules({ target }, call)
  return rulesResponse(required(rules, 'rules'), updateTime)
}

async function setRules(
  target: Target,
  payload: RuleChanges,
  { services, call }: Pick<Context, 'services' | 'call'>,
  validateOnly = false,
) {
  const { rules, updateTime } = await services.playbackRules.setPlaybackRules({ target, rules: rulesMessage(payload), validateOnly }, call)
  return rulesResponse(required(rules, 'rules'), updateTime)
}

export const getVideoRules = route({
  get: ['/video/:videoId/playback-rules'],
  operationId: 'getVideoPlaybackRules',
  section,
  access: 'user',
  summary: 'Read the playback rules of a video',
  description: `Returns the rules of the video, without those of its organisation. ${order}`,
  params: z.object({ videoId: id('video') }),
  response: PlaybackRulesResponse,
  handle: ({ params }, context) => findRules({ $case: 'videoId', value: params.videoId }, context),
})

export const setVideoRules = route({
  put: ['/video/:videoId/playback-rules'],
  operationId: 'replaceVideoPlaybackRules',
  section,
  access: 'user',
  summary: 'Replace the playback rules of a video',
  description: `${replaces} If everyone could watch the video before, the URLs of its files change, so that caches cannot return them to
denied viewers.`,
  params: z.object({ videoId: id('video') }),
  payload: ruleChanges,
  record: PlaybackRulesResponse,
  response: PlaybackRulesResponse,
  handle: ({ params, payload }, context) => setRules({ $case: 'videoId', value: params.videoId }, payload, context),
})

export const getOrganisationRules = route({
  get: ['/organisation/:organisationId/playback-rules'],
  operationId: 'getOrganisationPlaybackRules',
  section,
  access: 'user',
  summary: 'Read the playback rules of an organisation',
  description: `Returns the rules for all videos of the organisation. ${order}`,
  params: z.object({ organisationId: id('organisation') }),
  response: PlaybackRulesResponse,
  handle: ({ params }, context) =>
    findRules({ $case: 'organisationId', value: requestedOrganisation(context.caller, params.organisationId) }, context),
})

export const setOrganisationRules = route({
  put: ['/organisation/:organisationId/playback-rules'],
  operationId: 'replaceOrganisationPlaybackRules',
  section,
  access: 'super',
  alternative: 'users set the rules of single videos by PUT /v2/video/{video_id}/playback-rules',
  summary: 'Replace the playback rules of an organisation',
  description: `${replaces} A CDN may return files that it has cached until they expire.`,
  params: z.object({ organisationId: id('organisation') }),
  payload: ruleChanges,
  record: PlaybackRulesResponse,
  response: PlaybackRulesResponse,
  handle: ({ params, payload }, context) =>
    setRules({ $case: 'organisationId', value: requestedOrganisation(context.caller, params.organisationId) }, payload, context),
})

function findAddressFault(address: string): string | undefined {
  return normaliseAddress(address) === undefined ? 'must be an IPv4 or IPv6 address' : undefined
}

const firedRule = z.object({
  list: z.enum(['video', 'organisation']).meta({ description: 'The list of the rule.' }),
  index: schema.int('Position in the list, starting at 0.', 0),
  name: schema.text('Name of the rule.', 'Only our sites'),
})

export const explainPlayback = route({
  post: ['/security/explain'],
  operationId: 'explainPlaybackDecision',
  section,
  access: 'user',
  summary: 'Explain a decision about a viewer',
  description:
    'Returns how a request for a file of a video is decided, and by which rule. The same function decides real requests. Nothing is loaded or ' +
    'counted.',
  payload: z.strictObject({
    video_id: idField('video'),
    kind: oneOf(PLAYBACK_KINDS, { description: 'What is requested.' }),
    address: text(
      100,
      { min: 1, findFault: findAddressFault },
      { description: 'IPv4 or IPv6 address of the viewer.', example: '192.0.2.7' },
    ),
    referrer: text(
      2_048,
      {},
      { description: 'URL of the page that embeds the player.', example: 'https://example.com/courses/1' },
    ).optional(),
    token: text(10_000, {}, { description: 'Token of the request. It is a secret.' }).optional(),
    at: timestamp({ description: 'Time of the request. UTC. The default is now.' }).optional(),
    height: int(
      { min: 1, max: 10_000 },
      { description: 'Height of the requested picture in pixels. Without it, `manifest` is the master playlist.' },
    ).optional(),
  }),
  audited: false,
  response: z.object({
    allowed: schema.bool('Whether the request is allowed.'),
    code: schema.text('Code of the rejection, as in the response of delivery. Empty if the request is allowed.', 'rule_refused'),
    decided_by: schema.text(
      `What decided: ${DECIDING_PARTS.map((part) => `\`${part}\``).join(', ')}, or \`video\` if the video is disabled or has no files, or its organisation is inactive. ` +
        '`addresses` are those of `allowed_ips`. With `default`, no rule decided.',
      'rule',
    ),
    rule: firedRule.nullable().meta({ description: 'The rule that decided; null if `decided_by` is not `rule`.' }),
    message: schema.text('Text of that rule for viewers.', 'This video is only available on our sites.'),
    claim: schema.text(
      'Claim of the token because of which the request is denied: it is not valid for the request, or an allowing rule did not decide without it, although its ' +
        'other conditions were true. Otherwise empty.',
      'group',
    ),
    reported: z.array(firedRule).meta({ description: 'Rules with `report_only` that would have denied the request.' }),
    country: schema.text('Country of the address. Empty if it is unknown.', 'DE'),
  }),
  async handle({ payload: { video_id: videoId, kind, address, referrer = '', token = '', at, height = 0 } }, { services, call }) {
    const request = { videoId, kind, address, referrer, token, at, height }
    const explained = await services.playbackRules.explainPlayback(request, call)
    return {
      allowed: explained.allowed,
      code: explained.code,
      decided_by: explained.decidedBy,
      rule: explained.rule ? firedRuleResponse(explained.rule) : null,
      message: explained.message,
      claim: explained.claim,
      reported: explained.reported.map(firedRuleResponse),
      country: explained.country,
    }
  },
})

function firedRuleResponse({ isOfOrganisation, index, name }: FiredPlaybackRule): z.input<typeof firedRule> {
  return { list: isOfOrganisation ? 'organisation' : 'video', index, name }
}

export const playbackRuleRoutes = [getVideoRules, setVideoRules, getOrganisationRules, setOrganisationRules, explainPlayback]
