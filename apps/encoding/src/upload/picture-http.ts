import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { DomainError, type FieldError, invalid } from '@vitascope/errors'
import { PICTURE_HEAD_BYTES, posterLimits, sniffPicture } from '@vitascope/media'
import type { ObjectStorage } from '@vitascope/storage'
import { requireFileOrganisation } from './file-organisation.ts'
import { formatKeyPrefix } from './policy.ts'
import { recordUpload } from './record-upload.ts'
import type { UploadHandler } from './upload-listener.ts'
import { type UploadQuota, unrecordedReservationId } from './upload-quota.ts'
import { RETENTION_SECONDS, SWEEP_SECONDS, type UploadStore } from './upload-store.ts'

/** Header of the response with the id of the stored upload. */
const UPLOAD_ID = 'vitascope-upload-id'

/**
 * Returns the handler of `PUT /picture?organisation_id=ID`. It stores the picture in the body as an
 * upload, which a job then converts. The gateway has checked that the video belongs to the
 * organisation.
 */
export function pictureHandler(tools: { uploads: UploadStore; storage: ObjectStorage; quota: UploadQuota }): UploadHandler {
  return async ({ request, response, path, query, principal, signal }) => {
    if (path !== '/picture' || request.method !== 'PUT') return false
    const organisationId = requireFileOrganisation(principal, query)
    const uploadId = await storePicture(tools, { request, organisationId }, signal)
    response.writeHead(204, { [UPLOAD_ID]: uploadId }).end()
    return true
  }
}

async function storePicture(
  { uploads, storage, quota }: { uploads: UploadStore; storage: ObjectStorage; quota: UploadQuota },
  { request, organisationId }: { request: IncomingMessage; organisationId: string },
  signal: AbortSignal,
): Promise<string> {
  const declared = Number(request.headers['content-length'] ?? posterLimits.bytes)
  if (declared > posterLimits.bytes) throw tooLarge()
  const object = `${formatKeyPrefix(organisationId)}${randomUUID()}.picture`
  const reservation = {
    id: unrecordedReservationId(object),
    organisationId,
    bytes: declared,
    isOpen: false,
    lifetimeSeconds: RETENTION_SECONDS + SWEEP_SECONDS,
  }
  await quota.reserve(reservation, signal)
  try {
    const { bytes } = await storage.put(object, Readable.from(checkPicture(request), { objectMode: false }), { signal })
    const { uploadId } = await recordUpload({ uploads, quota }, { organisationId, object, bytes, etag: '' }, signal)
    return uploadId
  } catch (error) {
    await quota.release(reservation.id)
    throw error
  }
}

/**
 * Yields the bytes of a picture. Throws if the first bytes are not those of a picture, or if the
 * picture is too large.
 */
async function* checkPicture(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > posterLimits.bytes) throw tooLarge()
    if (!head) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < PICTURE_HEAD_BYTES) continue
    requirePicture(head)
    yield head
    head = undefined
  }
  if (head) requirePicture(head)
}

function requirePicture(head: Buffer): void {
  if (head.length < PICTURE_HEAD_BYTES || sniffPicture(head) === undefined)
    throw invalid([imageError('must be a JPEG, PNG or WebP picture')])
}

function tooLarge(): DomainError {
  const message = `must have at most ${posterLimits.bytes / 2 ** 20} MiB`
  return new DomainError('invalid', 'PAYLOAD_TOO_LARGE', `the picture ${message}`, { fields: [imageError(message)] })
}

/** Returns a field error of the body. Its public name is `image`. */
function imageError(message: string): FieldError {
  return { field: 'image', message }
}
