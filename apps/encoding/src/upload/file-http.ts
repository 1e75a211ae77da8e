import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { DomainError, invalid } from '@vitascope/errors'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { requireFileOrganisation } from './file-organisation.ts'
import { formatKeyPrefix } from './policy.ts'
import { recordUpload } from './record-upload.ts'
import type { UploadHandler } from './upload-listener.ts'
import { REQUEST_LIFETIME_SECONDS, type Reservation, type UploadQuota, unrecordedReservationId, withReservation } from './upload-quota.ts'
import { RETENTION_SECONDS, type StoredUpload, SWEEP_SECONDS, type UploadStore } from './upload-store.ts'

interface Tools {
  uploads: UploadStore
  storage: ObjectStorage
  quota: UploadQuota
  maxBytes: number
  log: Logger
}

/** Bytes after which the reservation of a file of unknown size grows. */
const RESERVE_EVERY_BYTES = 16 * 1024 * 1024

/**
 * Returns the handler of `PUT /file?organisation_id=ID&bytes=MAX`. It stores the body as an upload,
 * which becomes the source of a video. `bytes` is an upper bound of its size, if the client
 * declared one. The response has the id of the upload and the SHA-256 of the bytes. A request that
 * fails leaves no upload, object or reservation.
 */
export function fileHandler(tools: Tools): UploadHandler {
  return async ({ request, response, path, query, principal, signal }) => {
    if (path !== '/file' || request.method !== 'PUT') return false
    const organisationId = requireFileOrganisation(principal, query)
    const declaredBytes = query.has('bytes') ? Math.min(Number(query.get('bytes')), tools.maxBytes) : undefined
    const { upload, sha256 } = await storeFile(tools, { body: request, organisationId, declaredBytes }, signal)
    response.writeHead(204, { 'vitascope-upload-id': upload.uploadId, 'vitascope-upload-sha256': sha256 }).end()
    return true
  }
}

async function storeFile(
  tools: Tools,
  { body, organisationId, declaredBytes }: { body: AsyncIterable<Buffer>; organisationId: string; declaredBytes: number | undefined },
  signal: AbortSignal,
): Promise<{ upload: StoredUpload; sha256: string }> {
  const { uploads, storage, quota, log } = tools
  const object = `${formatKeyPrefix(organisationId)}${randomUUID()}.video`
  let reservation: Reservation = {
    id: unrecordedReservationId(object),
    organisationId,
    bytes: declaredBytes ?? 0,
    isOpen: true,
    lifetimeSeconds: REQUEST_LIFETIME_SECONDS,
  }
  const reserve = async (change: Partial<Reservation>) => {
    reservation = { ...reservation, ...change }
    await quota.reserve(reservation, signal)
  }
  await reserve({})
  let bytes = 0
  async function* checkFile(): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > tools.maxBytes) throw tooLarge(tools.maxBytes)
      if (bytes > reservation.bytes + RESERVE_EVERY_BYTES) await reserve({ bytes })
      yield chunk
    }
    if (bytes === 0) throw invalid([{ field: 'file', message: 'must not be empty' }])
    // From here the reservation outlives this process, because the object may exist.
    await reserve({ bytes, isOpen: false, lifetimeSeconds: RETENTION_SECONDS + SWEEP_SECONDS })
  }
  try {
    const put = () => storage.put(object, Readable.from(checkFile(), { objectMode: false }), { signal })
    const { sha256 } = await withReservation({ quota, log }, () => reservation, put)
    const upload = await recordUpload({ uploads, quota }, { organisationId, object, bytes, etag: '' }, signal)
    return { upload, sha256 }
  } catch (error) {
    await discardObject(tools, object, organisationId)
    throw error
  }
}

/**
 * Removes what a failed request may have stored. Each step is logged if it fails, because the
 * sweeps repeat it.
 */
async function discardObject({ uploads, storage, quota, log }: Tools, object: string, organisationId: string): Promise<void> {
  await quota.release(unrecordedReservationId(object))
  try {
    const upload = await uploads.find(object)
    if (upload?.organisationId === organisationId && (await uploads.drop(upload.uploadId))) await quota.release(upload.uploadId)
    if (!(await uploads.isSweepPaused())) await storage.delete(object)
  } catch (error) {
    log.warn({ err: error, object }, 'removing the file of a rejected request failed')
  }
}

function tooLarge(maxBytes: number): DomainError {
  const message = `must have at most ${maxBytes} bytes`
  return new DomainError('invalid', 'UPLOAD_TOO_LARGE', `the file ${message}`, { fields: [{ field: 'file', message }] })
}
