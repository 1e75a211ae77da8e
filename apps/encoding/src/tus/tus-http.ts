import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, type ErrorKind, invalid, isDomainError, notFound } from '@vitascope/errors'
import type { Client, Principal } from '@vitascope/grpc'
import { idempotencyMismatch } from '@vitascope/postgres'
import { foreignOrganisation, keyRequired } from '@vitascope/principal'
import type { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { isId, isUuid } from '@vitascope/request'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { hashToUuid } from '../common/hash-to-uuid.ts'
import type { UploadCall, UploadHandler } from '../upload/upload-listener.ts'
import { REQUEST_LIFETIME_SECONDS, type Reservation, type UploadQuota, withReservation } from '../upload/upload-quota.ts'
import { SWEEP_SECONDS } from '../upload/upload-store.ts'
import { type FinishTools, finishUpload, isFinal, toError } from './finish-upload.ts'
import { type Checksum, readChecksum, receiveParts, uploadLocked } from './receive-parts.ts'
import { readMetadata } from './tus-metadata.ts'
import type { Owner, TusUpload } from './tus-store.ts'

export interface TusTools extends FinishTools {
  media: Pick<Client<typeof MediaServiceService>, 'getMedia' | 'replaceSource'>
  storage: ObjectStorage
  quota: UploadQuota
  maxBytes: number
  retentionSeconds: number
  log: Logger
}

const VERSION = '1.0.0'
/** The media whose source an upload replaces. */
interface Replaced {
  mediaId: string
  organisationId: string
}

/** Kinds of errors after which the video of a complete upload is created later. */
const RETRIED_KINDS: readonly ErrorKind[] = ['unavailable', 'conflict', 'exhausted']
export const PARTS_TYPE = 'application/offset+octet-stream'
/**
 * Maximum wait for the lease. Another writer releases it within a second of the request. The lease
 * of a killed process expires within three seconds.
 */
const LEASE_WAIT_MS = 5_000
const LEASE_POLL_MS = 200
/** Path at which an upload is created that replaces the source of a media, in front of the id of the media. */
const REPLACEMENT = '/tus/media/'

/**
 * Returns the handler for resumable uploads: tus 1.0 with creation (also with the first bytes, and
 * with a deferred length), checksum, expiration and termination. It is implemented here because the
 * protocol is small and the rest is specific: parts are stored for all replicas, the offset is the
 * number of durable bytes, a row holds the lease of the writer, and a video is created from a
 * complete upload.
 */
export function tusHandler(tools: TusTools): UploadHandler {
  return async (call) => {
    const { path, request } = call
    if (path !== '/tus' && !path.startsWith('/tus/')) return false
    const { principal } = call
    if (principal.kind !== 'user') throw keyRequired()
    if (path === '/tus' && request.method === 'POST') {
      requireVersion(request)
      await create(tools, call, principal, undefined)
    } else if (path.startsWith(REPLACEMENT) && request.method === 'POST') {
      const media = await findOwnMedia(tools, call, path.slice(REPLACEMENT.length))
      requireVersion(request)
      await create(tools, call, principal, media)
    } else {
      const upload = await findOwnUpload(tools, principal, path.slice('/tus/'.length), call.signal)
      requireVersion(request)
      if (request.method === 'HEAD') await sendOffset(tools, call, upload)
      else if (request.method === 'PATCH') await append(tools, call, upload)
      else if (request.method === 'DELETE') await terminate(tools, call, upload)
      else return false
    }
    return true
  }
}

export function requireVersion({ headers }: IncomingMessage): void {
  if (headers['tus-resumable'] === VERSION) return
  throw new DomainError('invalid', 'TUS_VERSION_UNKNOWN', `the header Tus-Resumable must be ${VERSION}`)
}

async function create(tools: TusTools, call: UploadCall, owner: Owner, media: Replaced | undefined): Promise<void> {
  const { request, response, publicUrl } = call
  const metadata = String(request.headers['upload-metadata'] ?? '')
  const { title, filename, organisationId } = readMetadata(metadata)
  const isDeferred = request.headers['upload-defer-length'] === '1'
  const length = readLength(request, tools.maxBytes)
  if (isDeferred === (length !== undefined)) {
    throw invalid([
      { field: 'Upload-Length', message: 'is required unless Upload-Defer-Length is 1, and must not be sent together with it' },
    ])
  }
  const { organisationId: ownerId, mediaId } = media ?? { organisationId: resolveOrganisation(owner, organisationId), mediaId: undefined }
  const repeatableId = readRepeatableId(request, owner, mediaId)
  const uploadId = repeatableId ?? randomUUID()
  const newUpload = { uploadId, organisationId: ownerId, owner, mediaId, metadata, title, filename, length }
  let upload = repeatableId === undefined ? undefined : await tools.uploads.find(repeatableId, call.signal)
  if (!upload) {
    // The lifetime is short, because the request with the first bytes renews the reservation.
    await tools.quota.reserve({ ...toReservation(tools, newUpload, length ?? 0), lifetimeSeconds: REQUEST_LIFETIME_SECONDS }, call.signal)
    upload = await tools.uploads.findOrCreate(newUpload, tools.retentionSeconds)
  }
  if (!upload) throw notFound('upload', uploadId)
  // The length of an upload may be sent after its creation.
  if (upload.metadata !== metadata || (!isDeferred && upload.length !== length)) throw idempotencyMismatch()
  const headers = { Location: `${publicUrl}/v2/upload/tus/${uploadId}` }
  // The body of a repeated request is ignored if bytes of the first one were stored. The client continues at the offset.
  if (request.headers['content-type'] !== PARTS_TYPE || upload.received > 0) {
    return sendHeaders(response, 201, { ...headers, ...statusHeaders(upload), ...(await finishComplete(tools, upload, call.signal)) })
  }
  const updated = await receive(tools, call, uploadId, 0)
  sendHeaders(response, 201, { ...headers, ...statusHeaders(updated), ...(await finishComplete(tools, updated, call.signal)) })
}

/**
 * Returns the id of the upload that each request with the same `Idempotency-Key` of a caller creates or finds. Returns
 * undefined without the header.
 */
function readRepeatableId({ headers }: IncomingMessage, { keyId }: Owner, mediaId: string | undefined): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalid([{ field: 'Idempotency-Key', message: 'must have 1 to 255 printable ASCII characters' }])
  return hashToUuid(['tus creation', keyId, mediaId ?? '', key].join('\0'))
}

/** Returns a media and its owner. Throws not_found if it belongs to another organisation. */
async function findOwnMedia({ media }: TusTools, { principal, requestId, signal }: UploadCall, mediaId: string): Promise<Replaced> {
  const { media: found } = await media.getMedia({ mediaId }, { principal, requestId, signal })
  if (!found) throw notFound('media', mediaId)
  return { mediaId, organisationId: found.organisationId }
}

export async function sendOffset(tools: TusTools, { response, signal }: UploadCall, { uploadId }: TusUpload): Promise<void> {
  // The client is about to continue. Taking the lease makes an earlier request record its received
  // bytes, so that the offset includes them.
  const upload = await waitForLease(tools, uploadId, signal)
  await tools.uploads.release(uploadId, upload.fence)
  // A success response would look like a complete upload, because all bytes are received.
  if (upload.error) throw toError(upload.error)
  sendHeaders(response, 200, {
    ...statusHeaders(upload),
    ...(upload.length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(upload.length) }),
    ...(upload.metadata !== '' && { 'Upload-Metadata': upload.metadata }),
    ...idHeaders(upload),
    'Cache-Control': 'no-store',
  })
}

export async function append(tools: TusTools, call: UploadCall, { uploadId, error }: TusUpload): Promise<void> {
  const { request, response, signal } = call
  // HEAD also reports this error, but its response has no body for the message.
  if (error) throw toError(error)
  if (request.headers['content-type'] !== PARTS_TYPE) {
    throw new DomainError('invalid', 'UNSUPPORTED_MEDIA_TYPE', `the body must be sent as ${PARTS_TYPE}`)
  }
  const offset = readInteger(request, 'Upload-Offset')
  if (offset === undefined) throw invalid([{ field: 'Upload-Offset', message: 'must be a whole number' }])
  const updated = await receive(tools, call, uploadId, offset)
  sendHeaders(response, 204, { ...statusHeaders(updated), ...(await finishComplete(tools, updated, signal)) })
}

async function terminate(tools: TusTools, { response }: UploadCall, { uploadId }: TusUpload): Promise<void> {
  if (!(await tools.uploads.drop(uploadId))) {
    throw new DomainError('failed_precondition', 'UPLOAD_FINISHED', 'the upload is complete; delete its video instead')
  }
  // While a backup copies objects, they are kept and the sweep deletes them afterwards.
  if (!(await tools.uploads.isSweepPaused())) await tools.storage.deletePrefix(`tus/${uploadId}`)
  await tools.quota.release(uploadId)
  sendHeaders(response, 204, {})
}

/** Appends the body under the lease. Returns the updated upload. */
async function receive(tools: TusTools, { request, signal }: UploadCall, uploadId: string, offset: number): Promise<TusUpload> {
  const checksum = readChecksum(request.headers['upload-checksum'])
  const upload = await waitForLease(tools, uploadId, signal)
  try {
    if (offset !== upload.received) {
      throw new DomainError('conflict', 'OFFSET_MISMATCH', `the offset of the upload is ${upload.received}; read it with HEAD`, {
        retryAfter: 1,
      })
    }
    const declared = readLength(request, maxBytesOf(tools, upload))
    if (declared !== undefined && declared !== (upload.length ?? declared)) {
      throw invalid([{ field: 'Upload-Length', message: `was already set to ${upload.length}` }])
    }
    const length = upload.length ?? declared
    if (length !== undefined && length < upload.received)
      throw invalid([{ field: 'Upload-Length', message: 'is less than the number of bytes already received' }])
    const isComplete = length !== undefined && upload.received === length
    if (!isComplete) await renewReservation(tools, upload, length, signal)
    if (declared !== undefined && upload.length === undefined) await tools.uploads.setLength(uploadId, upload.fence, declared)
    return await receiveBody(tools, { request, signal }, { ...upload, length }, checksum)
  } finally {
    await tools.uploads.release(uploadId, upload.fence)
  }
}

/**
 * Appends the body to an upload whose lease the caller holds and whose bytes are reserved. Returns
 * the updated upload. Throws UPLOAD_LOCKED if another request continues it.
 */
export async function receiveBody(
  tools: TusTools,
  { request, signal }: Pick<UploadCall, 'request' | 'signal'>,
  upload: TusUpload,
  checksum: Checksum | undefined,
): Promise<TusUpload> {
  const { length } = upload
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  let reserved = length ?? upload.received
  const onPart = async (bytes: number) => {
    if (length !== undefined) return
    await tools.quota.reserve(toReservation(tools, upload, bytes), signal)
    reserved = bytes
  }
  const receiveAll = () =>
    receiveParts(tools, upload, request, {
      checksum,
      maxBytes: length ?? maxBytesOf(tools, upload),
      onPart,
      stopping: stopping.signal,
    })
  const received =
    upload.received === length ? await receiveAll() : await withReservation(tools, () => toReservation(tools, upload, reserved), receiveAll)
  if (!request.complete) throw uploadLocked()
  return { ...upload, received }
}

function maxBytesOf({ maxBytes }: TusTools, { ticket }: TusUpload): number {
  return Math.min(maxBytes, ticket?.maxBytes ?? maxBytes)
}

/**
 * Renews the reservation. An upload of known length reserved its bytes at creation, so it continues
 * while the catalogue is unavailable.
 */
async function renewReservation(tools: TusTools, upload: TusUpload, length: number | undefined, signal: AbortSignal): Promise<void> {
  try {
    await tools.quota.reserve(toReservation(tools, upload, length ?? upload.received), signal)
  } catch (error) {
    if (upload.length === undefined || !isDomainError(error) || error.kind !== 'unavailable') throw error
    tools.log.warn({ err: error, upload_id: upload.uploadId }, 'renewing the reserved bytes of an upload failed; retrying')
  }
}

/** Returns the reservation. It outlives the row of the upload, whose sweep releases it. */
export function toReservation(
  { retentionSeconds }: Pick<TusTools, 'retentionSeconds'>,
  { uploadId, organisationId }: Pick<TusUpload, 'uploadId' | 'organisationId'>,
  bytes: number,
): Reservation {
  return { id: uploadId, organisationId, bytes, isOpen: true, lifetimeSeconds: retentionSeconds + SWEEP_SECONDS }
}

export async function waitForLease({ uploads }: TusTools, uploadId: string, signal: AbortSignal): Promise<TusUpload> {
  for (const until = performance.now() + LEASE_WAIT_MS; ; ) {
    const leased = await uploads.lease(uploadId)
    if (leased) return leased
    if (!(await uploads.find(uploadId, signal))) throw notFound('upload', uploadId)
    if (performance.now() > until) {
      throw uploadLocked()
    }
    await delay(LEASE_POLL_MS, undefined, { signal })
  }
}

/**
 * Returns the headers with the video of a complete upload. If the catalogue is unavailable, or the
 * organisation has too many jobs, the video is created later.
 */
export async function finishComplete(tools: TusTools, upload: TusUpload, signal: AbortSignal): Promise<Record<string, string>> {
  if (upload.length === undefined || upload.received < upload.length) return {}
  try {
    return idHeaders(await finishUpload(tools, upload, signal))
  } catch (error) {
    if (isDomainError(error) && !isFinal(error) && RETRIED_KINDS.includes(error.kind)) return {}
    throw error
  }
}

function idHeaders({ videoId, jobId }: { videoId: string; jobId: string }): Record<string, string> {
  return videoId === '' ? {} : { 'X-Video-Id': videoId, 'X-Job-Id': jobId }
}

export function statusHeaders({ received, expires }: TusUpload): Record<string, string> {
  return { 'Upload-Offset': String(received), 'Upload-Expires': expires.toUTCString() }
}

export function sendHeaders(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, 'Tus-Resumable': VERSION, ...(status !== 204 && { 'Content-Length': '0' }) }).end()
}

async function findOwnUpload(
  { uploads }: TusTools,
  caller: Principal & { kind: 'user' },
  uploadId: string,
  signal: AbortSignal,
): Promise<TusUpload> {
  const upload = isUuid(uploadId) ? await uploads.find(uploadId, signal) : undefined
  if (!upload || (caller.userType !== 'system' && caller.organisationId !== upload.organisationId)) throw notFound('upload', uploadId)
  return upload
}

function resolveOrganisation(owner: Owner, requested: string | undefined): string {
  if (owner.userType !== 'system') {
    if (requested === undefined || requested === owner.organisationId) return owner.organisationId
    throw foreignOrganisation()
  }
  if (requested !== undefined && isId(requested)) return requested
  throw invalid([{ field: 'Upload-Metadata', message: 'must have organisation_id with a system key' }])
}

export function readLength(request: IncomingMessage, maxBytes: number): number | undefined {
  const length = readInteger(request, 'Upload-Length')
  if (length === 0) throw invalid([{ field: 'Upload-Length', message: 'must be greater than 0' }])
  if (length !== undefined && length > maxBytes) {
    throw new DomainError('invalid', 'UPLOAD_TOO_LARGE', `an upload has at most ${maxBytes} bytes`)
  }
  return length
}

function readInteger(request: IncomingMessage, name: string): number | undefined {
  const text = request.headers[name.toLowerCase()]
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw invalid([{ field: name, message: 'must be a whole number' }])
}
