import { DomainError } from '@vitascope/errors'
import { type UploadQuota, unrecordedReservationId } from './upload-quota.ts'
import { RETENTION_SECONDS, type StoredUpload, SWEEP_SECONDS, type UploadStore } from './upload-store.ts'

/**
 * Moves the reservation of a stored object to the id of its upload, and then records the object.
 * Because of this order, a recorded upload always has its reservation under its own id. Throws
 * `conflict` UPLOAD_GOING while an earlier upload with this name is being removed.
 */
export async function recordUpload(
  { uploads, quota }: { uploads: UploadStore; quota: Pick<UploadQuota, 'reserve'> },
  stored: { organisationId: string; object: string; bytes: number; etag: string },
  signal: AbortSignal,
): Promise<StoredUpload> {
  const { organisationId, object, bytes } = stored
  const uploadId = await uploads.bind(organisationId, object, signal)
  if (uploadId === undefined) throw beingRemoved()
  const reservation = { id: uploadId, organisationId, bytes, isOpen: false, lifetimeSeconds: RETENTION_SECONDS + SWEEP_SECONDS }
  await quota.reserve({ ...reservation, replacesId: unrecordedReservationId(object) }, signal)
  const upload = await uploads.recordObject(stored, signal)
  if (!upload) throw beingRemoved()
  return upload
}

function beingRemoved(): DomainError {
  return new DomainError('conflict', 'UPLOAD_GOING', 'an earlier upload with this key is being removed; use another key')
}
