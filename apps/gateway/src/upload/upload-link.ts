import { DomainError } from '@vitascope/errors'
import type { Context } from '../route.ts'
import { checkSourceAddress } from '../source-rule.ts'

/** The parts of a link that opens an uploaded file. */
interface UploadLink {
  uploadId: string
  expires: number
  signature: string
}

export function linkOf({ uploadId, expires, signature }: UploadLink, publicUrl: string): string {
  return `${publicUrl}/v2/upload/file/${uploadId}?expires=${expires}&signature=${signature}`
}

const FORM = /\/v2\/upload\/file\/([0-9a-f-]{36})\?expires=(\d{1,12})&signature=([0-9a-f]{64})$/

function readLink(url: string): UploadLink | undefined {
  const [, uploadId, expires, signature] = FORM.exec(url) ?? []
  return uploadId !== undefined && signature !== undefined ? { uploadId, expires: Number(expires), signature } : undefined
}

/**
 * The source that an address in a payload means: an upload of the organisation where the address is the link of one, which is told by its
 * signature and read from storage; else what is to be fetched, checked as far as the address itself shows.
 */
export async function sourceOf(
  field: string,
  url: string,
  organisationId: string,
  context: Context,
): Promise<{ sourceUrl: string; isUpload: boolean }> {
  const link = readLink(url)
  if (link) {
    const { recognised, sourceUrl } = await context.services.uploads.claimUpload({ ...link, organisationId }, context.call)
    if (recognised) return { sourceUrl, isUpload: true }
  }
  checkSourceAddress(field, url, context)
  return { sourceUrl: url, isUpload: false }
}

/** The same where the record, not the payload, says whose it is. */
export async function sourceForMedia(field: string, url: string, mediaId: string, context: Context) {
  const { caller, services, call } = context
  if (caller.kind !== 'user') throw new DomainError('unauthenticated', 'KEY_REQUIRED', 'this needs an API key')
  if (!readLink(url)) return sourceOf(field, url, '', context)
  const { media } = await services.media.getMedia({ mediaId }, call)
  return sourceOf(field, url, media?.organisationId ?? '', context)
}
