import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, isDomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { Caption, CaptionLine } from '@vitascope/proto/catalogue/v1/caption'
import type { Context } from '../../server/route/route.ts'
import { required } from '../../server/schema/response-format.ts'

type Calls = Pick<Context, 'services' | 'call'>
interface CaptionContent {
  caption: Caption
  lines: CaptionLine[]
}

/**
 * Time limit for reading a caption, in milliseconds. 20,000 lines can have 5 MiB, which is more than other reads have.
 * A stream has no deadline of its own.
 */
const READ_TIMEOUT_MS = 10_000
const RETRY_DELAY_MS = 200

/** Returns a caption with all its lines. */
export async function readCaption(captionId: string, { services, call }: Calls): Promise<CaptionContent> {
  return await withTimeLimit(call, (signal) => readOnce(captionId, services, { ...call, signal }))
}

/**
 * Reads a caption after a write. The write has succeeded, so the read has its own time limit and
 * retries while the service is unavailable.
 */
export async function readStored(captionId: string, { services, call }: Calls): Promise<CaptionContent> {
  return await withTimeLimit(call, async (signal) => {
    for (;;) {
      try {
        return await readOnce(captionId, services, { ...call, signal })
      } catch (error) {
        if (signal.aborted || !isDomainError(error) || error.kind !== 'unavailable') throw error
        await delay(RETRY_DELAY_MS, undefined, { signal })
      }
    }
  })
}

async function readOnce(captionId: string, { captions }: Context['services'], call: Call): Promise<CaptionContent> {
  let caption: Caption | undefined
  const lines: CaptionLine[] = []
  for await (const part of captions.readCaption({ captionId }, call)) {
    caption ??= part.caption
    lines.push(...part.lines)
  }
  return { caption: required(caption, 'caption'), lines }
}

async function withTimeLimit(call: Call, load: (signal: AbortSignal) => Promise<CaptionContent>): Promise<CaptionContent> {
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS)
  try {
    return await load(AbortSignal.any([call.signal, timeout]))
  } catch (error) {
    if (call.signal.aborted || !timeout.aborted) throw error
    throw new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'reading the lines took too long; try again', { retryAfter: 1, cause: error })
  }
}
