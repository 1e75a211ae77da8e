import { DomainError } from '@vitascope/errors'
import type { Caption, CaptionLine } from '@vitascope/proto/catalogue/v1/caption'
import { given } from '../public-form.ts'
import type { Context } from '../route.ts'

/** A caption with all its lines, by the time at which the caller's request is over: a stream has none of its own. */
export async function readCaption(captionId: string, { services, call }: Context): Promise<{ caption: Caption; lines: CaptionLine[] }> {
  const late = AbortSignal.timeout(Math.max(0, (call.deadline?.getTime() ?? Date.now()) - Date.now()))
  let caption: Caption | undefined
  const lines: CaptionLine[] = []
  try {
    for await (const part of services.captions.readCaption({ captionId }, { ...call, signal: AbortSignal.any([call.signal, late]) })) {
      caption ??= part.caption
      lines.push(...part.lines)
    }
  } catch (error) {
    if (call.signal.aborted || !late.aborted) throw error
    throw new DomainError('unavailable', 'DEADLINE_EXCEEDED', 'the lines took too long: try again', { retryAfter: 1, cause: error })
  }
  return { caption: given(caption, 'caption'), lines }
}
