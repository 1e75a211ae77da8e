import type { Countries } from '@vitascope/country'
import { invalid, notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import {
  buildPolicy,
  type Decision,
  decide,
  type FiredRule,
  frameAncestors,
  intersectFrameAncestors,
  isSameHost,
  PLAYBACK_KINDS,
  type PlaybackKind,
  toDomain,
  type VerifiedToken,
  verifyToken,
} from '@vitascope/playback-policy'
import { getScope, requireUser } from '@vitascope/principal'
import {
  type ExplainPlaybackResponse,
  type FiredPlaybackRule,
  PlaybackDefault,
  type PlaybackRulesServiceService,
  type PlaybackRules as RulesMessage,
  type SetPlaybackRulesRequest,
} from '@vitascope/proto/catalogue/v1/playback_rules'
import { isId } from '@vitascope/request'
import { normaliseAddress, type TokenKeyFile } from '@vitascope/security'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { checkRules, type PlaybackRules, type PlaybackRulesStore, type RulesTarget } from '../playback-rules/playback-rules.ts'
import type { PlaybackPolicyStore } from './playback-policy.ts'

interface RulesTools {
  rules: PlaybackRulesStore
  policies: PlaybackPolicyStore
  organisations: Organisations
  tokenKeys: TokenKeyFile
  /** Host and port of the platform's own pages. */
  publicHost: string
  countries: Countries
}

export function playbackRulesHandlers(tools: RulesTools): Handlers<typeof PlaybackRulesServiceService> {
  const { rules, policies, organisations, tokenKeys, publicHost, countries } = tools
  const findTarget = async (target: SetPlaybackRulesRequest['target'], principal: Principal, signal: AbortSignal): Promise<RulesTarget> => {
    if (target?.$case === 'organisationId')
      return { organisationId: await requireOrganisation(organisations, principal, target.value, signal) }
    const videoId = target?.value ?? ''
    if (!isId(videoId)) throw notFound('video', videoId)
    return { videoId, scope: getScope(requireUser(principal)) }
  }
  return {
    async getPlaybackRules({ target }, { principal, signal }) {
      const { updateTime, ...stored } = await rules.find(await findTarget(target, principal, signal), signal)
      return { rules: toMessage(stored), updateTime }
    },
    async setPlaybackRules({ target, rules: message, validateOnly }, { principal, signal }) {
      const checkedTarget = await findTarget(target, principal, signal)
      const changed = fromMessage(message)
      checkRules(changed)
      // The target is checked too, so that a dry run fails like the change.
      if (validateOnly) {
        await rules.find(checkedTarget, signal)
        return { rules: toMessage(changed), updateTime: undefined }
      }
      const { updateTime, ...stored } = await rules.set(checkedTarget, changed, signal)
      return { rules: toMessage(stored), updateTime }
    },
    async explainPlayback({ videoId, kind, address, referrer, token, at, height }, { principal, signal }) {
      // Only the organisation of a video may see its rules.
      await rules.find(await findTarget({ $case: 'videoId', value: videoId }, principal, signal), signal)
      const normalAddress = normaliseAddress(address)
      const problems = [
        ...(normalAddress === undefined ? [{ field: 'address', message: 'must be an IPv4 or IPv6 address' }] : []),
        ...(isKind(kind) ? [] : [{ field: 'kind', message: `must be one of ${PLAYBACK_KINDS.join(', ')}` }]),
      ]
      if (normalAddress === undefined || !isKind(kind) || problems.length > 0) throw invalid(problems)
      const now = at ?? new Date()
      const country = countries.find(normalAddress)
      // The video may have expired after the time of the request.
      const policy = await policies.findIncludingExpired(videoId, signal)
      // The video is disabled, it has no files, or its organisation is inactive.
      if (!policy) return toExplanation({ allowed: false, code: 'not_found', decidedBy: 'video', reported: [] }, country)
      const verify = () =>
        verifyToken(token, { videoId, address: normalAddress, now }, { platform: tokenKeys.current(), organisation: policy.keys })
      const verified = token === '' ? undefined : await verify()
      const decision = decide(buildPolicy(policy), {
        ...{ kind, address: normalAddress, now, country },
        referrer: referrer || undefined,
        isOwnPage: kind !== 'page' && isSameHost(referrer, publicHost),
        domain: toDomain(referrer),
        // Delivery decides about the master playlist by the lowest rendition.
        height: height || (kind === 'manifest' ? policy.lowestHeight : undefined),
        token: verified && kind === 'page' ? withoutRejection(verified) : verified,
      })
      return toExplanation(decision, country)
    },
    async decidePage({ videoId, address, referrer, token }, { signal }) {
      const stored = isId(videoId) ? await policies.find(videoId, signal) : undefined
      if (!stored) throw notFound('video', videoId)
      const policy = buildPolicy(stored)
      const now = new Date()
      const { allowed, message, rule } = decide(policy, {
        ...{ kind: 'page', address, now, country: countries.find(address), height: undefined, isOwnPage: false },
        referrer: referrer || undefined,
        domain: toDomain(referrer),
        token:
          token === ''
            ? undefined
            : withoutRejection(
                await verifyToken(token, { videoId, address, now }, { platform: tokenKeys.current(), organisation: stored.keys }),
              ),
      })
      // Without a rule, it was a claim of the token that denied the page.
      const text = allowed || rule || token === '' ? (message ?? '') : FOREIGN_TOKEN
      return { allowed, message: text, frameAncestors: frameAncestors(policy) }
    },
    async decidePlaylistPage({ playlistId, address, referrer }, { signal }) {
      const found = isId(playlistId) ? await rules.findOfPlaylist(playlistId, signal) : []
      const page = {
        kind: 'page',
        address,
        now: new Date(),
        country: countries.find(address),
        height: undefined,
        isOwnPage: false,
      } as const
      const pages = found.map((pageRules) => {
        const policy = buildPolicy({ ...OPEN_POLICY, ...pageRules })
        const decision = decide(policy, { ...page, referrer: referrer || undefined, domain: toDomain(referrer), token: undefined })
        return { ...decision, frameAncestors: frameAncestors(policy) }
      })
      const denied = pages.find(({ allowed }) => !allowed)
      return {
        allowed: denied === undefined,
        message: denied?.message ?? '',
        frameAncestors: intersectFrameAncestors(pages.map((one) => one.frameAncestors)),
      }
    },
  }
}

/** Text for viewers whose token is valid in another place. */
const FOREIGN_TOKEN = 'Your link is valid on another page, in another network or in another country.'

/** Parts of a policy that do not concern pages. */
const OPEN_POLICY = { tokenRequired: false, passwordRequired: false, allowedIps: [], expireTime: undefined }

/**
 * A decision to explain. `decidedBy` is `video` if the video has no policy, because it is disabled, has no
 * files, or belongs to an inactive organisation.
 */
type Explained = Omit<Decision, 'decidedBy'> & { decidedBy: Decision['decidedBy'] | 'video' }

function toExplanation(
  { allowed, code, decidedBy, rule, message, claim, reported }: Explained,
  country: string | undefined,
): ExplainPlaybackResponse {
  return {
    decidedBy,
    allowed,
    code: code ?? '',
    rule: rule && toFiredMessage(rule),
    message: message ?? '',
    claim: claim ?? '',
    reported: reported.map(toFiredMessage),
    country: country ?? '',
  }
}

function toFiredMessage({ list, index, name }: FiredRule): FiredPlaybackRule {
  return { isOfOrganisation: list === 'organisation', index, name }
}

/**
 * Returns the token if it is valid, otherwise undefined. The player page is shown with an invalid token
 * too, and reports the reason itself.
 */
function withoutRejection(token: VerifiedToken): VerifiedToken | undefined {
  return token.rejection === undefined ? token : undefined
}

function isKind(text: string): text is PlaybackKind {
  return (PLAYBACK_KINDS as readonly string[]).includes(text)
}

const DEFAULTS = {
  [PlaybackDefault.PLAYBACK_DEFAULT_ALLOW]: 'allow',
  [PlaybackDefault.PLAYBACK_DEFAULT_DENY]: 'deny',
} as const

function fromMessage(message: RulesMessage | undefined): PlaybackRules {
  const found = Object.entries(DEFAULTS).find(([name]) => name === message?.defaultDecision)
  return { defaultDecision: found?.[1], rules: message?.rules ?? [] }
}

function toMessage({ defaultDecision, rules }: PlaybackRules): RulesMessage {
  const defaults = {
    allow: PlaybackDefault.PLAYBACK_DEFAULT_ALLOW,
    deny: PlaybackDefault.PLAYBACK_DEFAULT_DENY,
    inherit: PlaybackDefault.PLAYBACK_DEFAULT_UNSPECIFIED,
  }
  return { defaultDecision: defaults[defaultDecision ?? 'inherit'], rules }
}
