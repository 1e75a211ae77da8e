import { randomUUID } from 'node:crypto'
import { createLoadingCache } from '@vitascope/concurrency'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { buildPolicy, isOpen, isTokenAlgorithm } from '@vitascope/playback-policy'
import type {
  GetPlaybackPolicyResponse,
  GetPresentationPolicyResponse,
  PlaybackPolicyServiceService,
} from '@vitascope/proto/catalogue/v1/playback_policy'
import { type CaptionSettings, NO_CAPTIONS } from './captions/hls-captions.ts'
import type { DeliveryPath } from './delivery-path.ts'
import type { DeliveryPolicy } from './delivery-policy.ts'

/** Maximum age of a cached policy. Policy changes must take effect within 5 s, including the catalogue's share. */
const FRESH_MS = 2_000
/** While the catalogue is unavailable, a policy up to this age is used. */
const STALE_MS = 4_000
const MAX_POLICIES = 50_000

/** The video or presentation of a policy. */
export type PolicyTarget = Pick<DeliveryPath, 'kind' | 'id'>

export interface PolicyCache {
  /**
   * Returns undefined if the video or presentation does not exist. A cached policy is at most `maxAgeMs` old, 2 s by
   * default. While the catalogue is unavailable, it is at most 4 s old. Throws `unavailable` if there is none of that age.
   */
  get(target: PolicyTarget, options?: { maxAgeMs?: number }): Promise<DeliveryPolicy | undefined>
}

/** Creates the cache. Concurrent requests for the same policy share one call to the catalogue. */
export function createPolicyCache(policies: Client<typeof PlaybackPolicyServiceService>): PolicyCache {
  const cache = createLoadingCache<DeliveryPolicy | undefined>({
    max: MAX_POLICIES,
    maxMissing: MAX_POLICIES,
    isMissing: (policy) => policy === undefined,
    ttlMs: () => FRESH_MS,
  })

  const find = async ({ kind, id }: PolicyTarget): Promise<DeliveryPolicy> => {
    const call = serviceCall('delivery', randomUUID())
    if (kind === 'video') {
      const policy = await policies.getPlaybackPolicy({ videoId: id }, call)
      return { ...toPolicy(policy), videoId: id, captions: toCaptionSettings(policy), added: policy.added, poster: policy.poster }
    }
    const policy = await policies.getPresentationPolicy({ presentationId: id }, call)
    return { ...toPolicy(policy), videoId: policy.videoId, captions: NO_CAPTIONS, added: [], poster: undefined }
  }
  const findOrUndefined = async (target: PolicyTarget): Promise<DeliveryPolicy | undefined> => {
    try {
      return await find(target)
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }

  return {
    async get(target, { maxAgeMs = FRESH_MS } = {}) {
      const key = `${target.kind} ${target.id}`
      const isTooOld = (cache.last(key)?.ageMs ?? 0) >= maxAgeMs
      try {
        return await cache[isTooOld ? 'reload' : 'get'](key, () => findOrUndefined(target))
      } catch (error) {
        const last = cache.last(key)
        if (last && last.ageMs < STALE_MS && isDomainError(error) && error.kind === 'unavailable') return last.value
        throw error
      }
    },
  }
}

function toPolicy(
  message: GetPlaybackPolicyResponse | GetPresentationPolicyResponse,
): Omit<DeliveryPolicy, 'videoId' | 'captions' | 'added' | 'poster'> {
  const rules = buildPolicy(message)
  // A key with an algorithm of a later release is unknown here.
  const keys = message.keys.flatMap(({ algorithm, ...key }) => (isTokenAlgorithm(algorithm) ? [{ ...key, algorithm }] : []))
  // The number of sessions is limited for videos only, not for slides.
  const maxSessions = 'maxSessions' in message ? message.maxSessions : 0
  const organisationId = 'organisationId' in message ? message.organisationId : ''
  return { organisationId, sets: message.sets, rules, keys, maxSessions, isOpen: isOpen(rules) && maxSessions === 0 }
}

function toCaptionSettings({ masterPath, durationSeconds, captions }: GetPlaybackPolicyResponse): CaptionSettings {
  return { masterPath, durationSeconds, tracks: captions }
}
