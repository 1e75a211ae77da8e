import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import type { PosterServiceService, SetPosterRequest } from '@vitascope/proto/catalogue/v1/poster'
import { isId } from '@vitascope/request'
import { isActive, type PosterSource } from './poster.ts'
import { toPosterMessage } from './poster-message.ts'
import type { PosterStore } from './poster-store.ts'

const MAX_WAIT_SECONDS = 5
const POLL_MS = 100
const MAX_URL_LENGTH = 8_192

export function posterHandlers(posters: PosterStore): Handlers<typeof PosterServiceService> {
  return {
    async setPoster({ videoId, source: message, waitSeconds }, { principal, signal }) {
      const { userId } = requireUser(principal)
      if (!isId(videoId)) throw notFound('video', videoId)
      const source = toSource(message)
      const jobId = await posters.set({ scope: getScope(principal), videoId }, userId, source, signal)
      await waitForJob({ videoId, jobId, source, seconds: Math.min(waitSeconds, MAX_WAIT_SECONDS) }, signal)
      const poster = await posters.find(videoId, signal)
      return { poster: poster && toPosterMessage(poster) }
    },
    async deletePoster({ videoId }, { principal, signal }) {
      const { userId } = requireUser(principal)
      if (!isId(videoId)) throw notFound('video', videoId)
      await posters.remove({ scope: getScope(principal), videoId }, userId, signal)
      return {}
    },
  }

  /**
   * Waits for the end of the job, for at most `seconds`. Throws the error of a failed job. The picture is
   * already stored, so a caller need not repeat the request after a timeout.
   */
  async function waitForJob(
    { videoId, jobId, source, seconds }: { videoId: string; jobId: string; source: PosterSource; seconds: number },
    signal: AbortSignal,
  ): Promise<void> {
    for (const until = performance.now() + seconds * 1_000; performance.now() < until; ) {
      const job = await posters.findJob(videoId, jobId, signal)
      // A later request has replaced the job.
      if (!job) return
      if (!isActive(job)) {
        if (job.state === 'failed') throw toError(source, job)
        return
      }
      await delay(POLL_MS, undefined, { signal })
    }
  }
}

function toSource(message: SetPosterRequest['source']): PosterSource {
  if (message?.$case === 'atSeconds') {
    if (!(message.value >= 0)) throw invalid([{ field: 'at_seconds', message: 'must not be negative' }])
    return { kind: 'frame', atSeconds: message.value }
  }
  const url = message?.value ?? ''
  if (url === '' || url.length > MAX_URL_LENGTH)
    throw invalid([{ field: 'source_url', message: `must have 1 to ${MAX_URL_LENGTH} characters` }])
  return { kind: 'url', url }
}

/** Returns the error of a failed job. Codes of 5000 and above are faults of the platform. */
function toError(source: PosterSource, { code, message }: { code: number; message: string }): DomainError {
  if (code >= 5_000) return new DomainError('unavailable', 'POSTER_FAILED', `the picture could not be converted: ${message}; try again`)
  return invalid([{ field: source.kind === 'frame' ? 'at_seconds' : 'source_url', message }])
}
