import { createHash, type Hash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { DomainError, isDomainError } from '@vitascope/errors'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { type FormFields, receiveFileForm } from './file-form.ts'
import type { FormGate } from './form-gate.ts'
import { parseOrganisation } from './policy.ts'
import { type AdmittedPost, admitPost, isPolicySigned } from './post-policy.ts'
import { recordUpload } from './record-upload.ts'
import type { UploadCall } from './upload-listener.ts'
import { REQUEST_LIFETIME_SECONDS, type Reservation, type UploadQuota, unrecordedReservationId, withReservation } from './upload-quota.ts'
import type { UploadLocation } from './upload-service.ts'
import { RETENTION_SECONDS, SWEEP_SECONDS, type UploadStore } from './upload-store.ts'

export interface PostedObject {
  key: string
  etag: string
  status: AdmittedPost['status']
}

interface Tools {
  uploads: UploadStore
  storage: ObjectStorage
  location: UploadLocation
  gate: FormGate
  quota: UploadQuota
  log: Logger
}

/**
 * Accepts a browser form with a file, for the embedded object store. The object exists only when it
 * is complete and recorded.
 */
export async function postObject(
  { uploads, storage, location, gate, quota, log }: Tools,
  { request, client, signal }: Pick<UploadCall, 'request' | 'client' | 'signal'>,
): Promise<PostedObject> {
  if (location.endpoint !== '') {
    throw new DomainError(
      'failed_precondition',
      'OBJECT_STORE_ELSEWHERE',
      `uploads go to the object store; post the form to ${location.endpoint}`,
    )
  }
  const signed = { bucket: location.bucket, keys: location.verificationKeys() }
  let isSigned = false
  const onFields = (fields: FormFields) => {
    if (!isSigned) isSigned = isPolicySigned(fields, signed, new Date())
  }
  const onFile = async (fields: FormFields, file: Readable): Promise<PostedObject> => {
    const post = admitPost(fields, signed, new Date())
    const { key, contentType, status } = post
    const organisationId = parseOrganisation(key) ?? (await uploads.find(key, signal))?.organisationId
    if (organisationId === undefined) throw new DomainError('forbidden', 'POLICY_REFUSED', 'the key of the object is unknown or expired')
    const maxBytes = Math.min(post.maxBytes, Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY))
    const open: Reservation = { id: randomUUID(), organisationId, bytes: maxBytes, isOpen: true, lifetimeSeconds: REQUEST_LIFETIME_SECONDS }
    let reservation = open
    await quota.reserve(reservation, signal)
    /**
     * Called with the size of the file before its object exists. From then on the reservation
     * outlives this process.
     */
    const onEnd = async (bytes: number) => {
      const stored = {
        id: unrecordedReservationId(key),
        organisationId,
        bytes,
        isOpen: false,
        lifetimeSeconds: RETENTION_SECONDS + SWEEP_SECONDS,
      }
      reservation = stored
      await quota.reserve({ ...stored, replacesId: open.id }, signal)
    }
    const hash = createHash('md5')
    const source = Readable.from(checkSize(file, post, hash, onEnd), { objectMode: false })
    const put = () => storage.put(key, source, { signal, ...(contentType !== undefined && { contentType }) })
    try {
      await withReservation({ quota, log }, () => reservation, put)
    } catch (error) {
      const isNeeded = await isUnrecorded(uploads, key, error)
      // Both are released if the response to the change from one to the other was lost.
      for (const { id } of new Set([open, reservation])) if (id === open.id || !isNeeded) await quota.release(id)
      throw error
    }
    const etag = hash.digest('hex')
    // The object exists. If a step fails, its reservation is kept, and a repeated form continues
    // from here.
    await recordUpload({ uploads, quota }, { organisationId, object: key, bytes: reservation.bytes, etag }, signal)
    return { key, etag, status }
  }
  return receiveFileForm(request, { gate, client, onFields, onFile })
}

/**
 * Returns true if the file was rejected because of an earlier object without a recorded row, whose
 * reservation must be kept.
 */
async function isUnrecorded(uploads: UploadStore, key: string, error: unknown): Promise<boolean> {
  return isDomainError(error) && error.reason === 'OBJECT_EXISTS' && (await uploads.find(key))?.bytes === undefined
}

/**
 * Yields the bytes, and throws if their number is outside of the policy's range. `onEnd` is called
 * after the last one.
 */
async function* checkSize(
  file: Readable,
  { minBytes, maxBytes }: AdmittedPost,
  hash: Hash,
  onEnd: (bytes: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of file as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes)
      throw new DomainError('invalid', 'ENTITY_TOO_LARGE', `the file exceeds the ${maxBytes} bytes that the policy allows`)
    hash.update(chunk)
    yield chunk
  }
  if (bytes < minBytes)
    throw new DomainError('invalid', 'ENTITY_TOO_SMALL', `the file has fewer than the ${minBytes} bytes that the policy requires`)
  await onEnd(bytes)
}
