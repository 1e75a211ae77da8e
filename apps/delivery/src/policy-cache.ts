import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createLoadingCache } from '@vitascope/concurrency'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import { buildPolicy, isOpen, isTokenAlgorithm } from '@vitascope/playback-policy'
import type {
  GetPlaybackPolicyResponse,
  GetPresentationPolicyResponse,
  PlaybackPolicyServiceService,
} from '@vitascope/proto/catalogue/v1/playback_policy'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { type CaptionSettings, NO_CAPTIONS } from './captions/hls-captions.ts'
import type { DeliveryPath } from './delivery-path.ts'
import type { DeliveryPolicy } from './delivery-policy.ts'

/** Maximum age of a cached policy. Policy changes must take effect within 5 s, including the catalogue's share. */
const FRESH_MS = 2_000
/** While the catalogue is unavailable, one request in this time calls it. */
const PROBE_INTERVAL_MS = 1_000
/** After this time without a response, a known policy is used. The time limit of a call is 2 s. */
const MAX_WAIT_MS = 1_000
const MAX_POLICIES = 50_000

/** Result of a wait for the catalogue that ended without a response. */
const LATE = Symbol('late')

/** `slow`: its last response took too long, and there is no error yet. `calledAt` is a time of `performance.now()`. */
type CatalogueState = { name: 'available' | 'slow' } | { name: 'unavailable'; calledAt: number }

/** The video or presentation of a policy. */
export type PolicyTarget = Pick<DeliveryPath, 'kind' | 'id'>

export interface PolicyCache {
  /**
   * Returns undefined if the video or presentation does not exist. By default, a policy is at most 2 s old, and while
   * the catalogue is unavailable at most `outageMs`. With `maxAgeMs`, it is never older. Throws `unavailable` if there
   * is none of that age.
   */
  get(target: PolicyTarget, options?: { maxAgeMs?: number }): Promise<DeliveryPolicy | undefined>
}

export interface PolicyCacheOptions {
  policies: Pick<Client<typeof PlaybackPolicyServiceService>, 'getPlaybackPolicy' | 'getPresentationPolicy'>
  /** Maximum age in milliseconds of a policy that is used while the catalogue is unavailable. */
  outageMs: number
  log: Logger
  metrics: Metrics
}

/**
 * Creates the cache. Concurrent requests for the same policy share one call to the catalogue. While the catalogue is
 * unavailable, requests for known policies do not wait for it: one of them calls it each second, and its first
 * response ends the outage. While it is slow, they do not wait either, but each policy is still loaded.
 */
export function createPolicyCache({ policies, outageMs, log, metrics }: PolicyCacheOptions): PolicyCache {
  const cache = createLoadingCache<DeliveryPolicy | undefined>({
    max: MAX_POLICIES,
    maxMissing: MAX_POLICIES,
    isMissing: (policy) => policy === undefined,
    ttlMs: () => FRESH_MS,
  })
  const oldUses = metrics.counter(
    'vitascope_delivery_old_rules_total',
    'Requests for files that were decided by playback rules of more than 2 s ago, because the catalogue did not respond in time',
  )
  let catalogue: CatalogueState = { name: 'available' }

  const noteUnavailable = (error: unknown) => {
    if (catalogue.name === 'unavailable') return
    catalogue = { name: 'unavailable', calledAt: performance.now() }
    log.warn({ err: error, max_seconds: outageMs / 1_000 }, 'the catalogue is unavailable: delivery continues with the rules that it knows')
  }
  const noteAvailable = () => {
    if (catalogue.name === 'unavailable') log.info('the catalogue is available again')
    catalogue = { name: 'available' }
  }

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

  const load = async (target: PolicyTarget): Promise<DeliveryPolicy | undefined> => {
    try {
      const policy = await findOrUndefined(target)
      noteAvailable()
      return policy
    } catch (error) {
      if (isUnavailable(error)) noteUnavailable(error)
      throw error
    }
  }

  /** Returns whether a request should call the catalogue: always if it is slow, and one request per interval during an outage. */
  const isDue = (state: CatalogueState): boolean => {
    if (state.name !== 'unavailable') return true
    if (performance.now() - state.calledAt < PROBE_INTERVAL_MS) return false
    state.calledAt = performance.now()
    return true
  }
  const reloadInBackground = (reload: () => Promise<unknown>) => {
    reload().catch((error: unknown) => {
      // `load` has noted an outage. Any other error is a response of the catalogue, and fails the next request for the policy.
      if (!isUnavailable(error)) noteAvailable()
    })
  }

  return {
    async get(target, { maxAgeMs = FRESH_MS } = {}) {
      const key = `${target.kind} ${target.id}`
      const last = cache.last(key)
      if (last && last.ageMs < maxAgeMs) return last.value
      const reload = () => cache.reload(key, () => load(target))
      // A video that did not exist may exist now.
      const known = maxAgeMs === FRESH_MS && last && last.ageMs < outageMs ? last.value : undefined
      if (known === undefined) return await reload()
      if (catalogue.name === 'available') {
        const end = new AbortController()
        try {
          const loaded = await Promise.race([reload(), delay(MAX_WAIT_MS, LATE, { signal: end.signal })])
          if (loaded !== LATE) return loaded
          if (catalogue.name === 'available') catalogue = { name: 'slow' }
        } catch (error) {
          if (!isUnavailable(error)) throw error
        } finally {
          end.abort()
        }
      } else if (isDue(catalogue)) reloadInBackground(reload)
      oldUses.inc()
      return known
    },
  }
}

const isUnavailable = (error: unknown): boolean => isDomainError(error) && error.kind === 'unavailable'

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
