import { DomainError } from '@vitascope/errors'
import { guardedPost, type SourcePolicy, sourcePolicy } from '@vitascope/fetch'
import type { OutboxHandlers } from '@vitascope/postgres'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { createSignedHeaders } from '../notification/webhook/webhook-secret.ts'

export interface CdnPurgeSettings {
  /** URL that receives the messages. */
  url: string
  /** Secret of the signatures, in the format of Standard Webhooks. */
  secret: string
}

/** Topic of the messages in the outbox. */
export const CDN_PURGE = 'cdn_purge'

/** A delivery version of a video that is no longer available. */
interface EndedVersion {
  videoId: string
  version: string
  /** Number of the purge, 1 or 2. The second purge removes files whose transfer to the CDN took longer. */
  pass: number
}

const TIMEOUT_MS = 10_000
/** The URL is a setting of the operator, not of a caller. */
const ANY_ADDRESS: SourcePolicy = sourcePolicy({ allow: ['0.0.0.0/0', '::/0'] })

/**
 * Returns the outbox handler that reports ended delivery versions to a CDN. Triggers enqueue the
 * messages. Without settings it drops them. While the receiver does not respond, or returns 429 or
 * 5xx, a message is sent again without a limit. After other failures, `maxErrors` of the outbox limits
 * the attempts.
 */
export function cdnPurgeHandlers(settings: CdnPurgeSettings | undefined, metrics: Metrics, log: Logger): OutboxHandlers {
  const calls = metrics.counter('vitascope_catalogue_cdn_purges_total', 'Calls of the purge URL of the CDN, by outcome: ok or failed', [
    'outcome',
  ])
  return {
    async [CDN_PURGE](ended: EndedVersion, signal) {
      if (!settings) return
      try {
        await sendPurge(settings, ended, signal)
        calls.inc({ outcome: 'ok' })
      } catch (error) {
        calls.inc({ outcome: 'failed' })
        log.warn({ err: error, video_id: ended.videoId }, 'the purge URL of the CDN failed; retrying')
        throw error
      }
    },
  }
}

async function sendPurge({ url, secret }: CdnPurgeSettings, { videoId, version, pass }: EndedVersion, signal: AbortSignal): Promise<void> {
  const time = new Date()
  const body = JSON.stringify({
    type: 'delivery.purge',
    timestamp: time.toISOString(),
    data: { video_id: videoId, prefix: `/delivery/${videoId}/${version}`, tags: [`version-${version}`] },
  })
  // Receivers drop a repeated id, so each pass has its own.
  const headers = createSignedHeaders(`purge-${version}-${pass}`, time, body, [secret])
  const post = guardedPost(url, { policy: ANY_ADDRESS, headers, body, timeoutMs: TIMEOUT_MS, signal })
  const { status } = await post.catch((error: unknown) => {
    throw unavailable('did not respond', error)
  })
  if (status >= 500 || status === 429) throw unavailable(`returned ${status}`)
  if (status >= 300) throw new Error(`the purge URL of the CDN returned ${status}`)
}

function unavailable(what: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'CDN_UNAVAILABLE', `the purge URL of the CDN ${what}`, { retryAfter: 1, cause })
}
