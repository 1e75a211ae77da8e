import { randomUUID } from 'node:crypto'
import type { CaptionLine } from '@vitascope/captions'
import { createLoadingCache } from '@vitascope/concurrency'
import { DomainError, isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { CaptionServiceService } from '@vitascope/proto/catalogue/v1/caption'
import { type CaptionTrack, writeCaptionText } from './hls-captions.ts'

const MAX_BYTES = 64 * 2 ** 20
const READ_TIMEOUT_MS = 5_000
const NO_LINES = Buffer.from(writeCaptionText([]))

export interface CaptionTexts {
  /** Returns captions as WebVTT. Unknown or just deleted captions have no lines. */
  get(track: CaptionTrack | undefined): Promise<Buffer>
}

/** Creates a cache of WebVTT texts. Concurrent requests for the same captions share one call to the catalogue. */
export function createCaptionTexts(captions: Client<typeof CaptionServiceService>): CaptionTexts {
  const texts = createLoadingCache<Buffer>({ maxSize: MAX_BYTES, getSize: (text) => text.length + 1_000 })
  return {
    async get(track) {
      if (!track) return NO_LINES
      const { captionId, revision } = track
      return await texts.get(`${captionId} ${revision}`, async () => Buffer.from(writeCaptionText(await readLines(captions, captionId))))
    },
  }
}

/**
 * Returns the lines of captions, or no lines if the captions do not exist. Throws `unavailable`
 * DEADLINE_EXCEEDED after 5 s. All waiting requests share the call, so the disconnect of one client
 * does not abort it. Lines that are newer than the requested revision are acceptable.
 */
async function readLines(captions: Client<typeof CaptionServiceService>, captionId: string): Promise<CaptionLine[]> {
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS)
  const lines: CaptionLine[] = []
  try {
    const parts = captions.readCaption({ captionId }, { ...serviceCall('delivery', randomUUID()), signal: timeout })
    for await (const part of parts) lines.push(...part.lines)
  } catch (error) {
    if (isDomainError(error) && error.kind === 'not_found') return []
    if (!timeout.aborted) throw error
    throw new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'reading the captions took too long; try again', {
      retryAfter: 1,
      cause: error,
    })
  }
  return lines
}
