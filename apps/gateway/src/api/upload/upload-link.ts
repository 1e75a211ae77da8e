import { keyRequired } from '@vitascope/principal'
import type { PublicNames } from '../../server/route/public-names.ts'
import type { Context } from '../../server/route/route.ts'
import { checkSourceAddress } from '../shared/validate-source-url.ts'

/** The parts of a link to an uploaded file. */
interface UploadLink {
  uploadId: string
  expires: number
  signature: string
}

export function formatUploadUrl({ uploadId, expires, signature }: UploadLink, publicUrl: string): string {
  return `${publicUrl}/v2/upload/file/${uploadId}?expires=${expires}&signature=${signature}`
}

const LINK_PATTERN = /\/v2\/upload\/file\/([0-9a-f-]{36})\?expires=(\d{1,12})&signature=([0-9a-f]{64})$/

function readLink(url: string): UploadLink | undefined {
  const [, uploadId, expires, signature] = LINK_PATTERN.exec(url) ?? []
  return uploadId !== undefined && signature !== undefined ? { uploadId, expires: Number(expires), signature } : undefined
}

/** Returns the public names of a route whose source URL is the field `field`. */
export function sourceNames(field: string): PublicNames {
  return { source_url: field, upload_id: field, expires: field }
}

/**
 * Returns the source for a URL in a payload. A valid signed link of an upload of the organisation
 * refers to the object in storage. Any other URL will be downloaded. Throws if the URL itself is
 * not allowed.
 */
export async function resolveSource(
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

/** Like `resolveSource`, with the organisation of the media's record instead of the payload's. */
export async function sourceForMedia(field: string, url: string, mediaId: string, context: Context) {
  const { caller, services, call } = context
  if (caller.kind !== 'user') throw keyRequired()
  if (!readLink(url)) return resolveSource(field, url, '', context)
  const { media } = await services.media.getMedia({ mediaId }, call)
  return resolveSource(field, url, media?.organisationId ?? '', context)
}
