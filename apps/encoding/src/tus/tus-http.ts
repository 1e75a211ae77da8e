import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, invalid, isDomainError, notFound, type RefusalKind } from '@vitascope/errors'
import type { Client, Principal } from '@vitascope/grpc'
import type { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { ObjectStorage } from '@vitascope/storage'
import type { UploadCall, UploadHandler } from '../upload/upload-listener.ts'
import { isUuid } from '../upload/upload-rpc.ts'
import { finishUpload, isFinal, refusalOf } from './finish-upload.ts'
import { readChecksum, receiveParts } from './receive-parts.ts'
import { readMetadata } from './tus-metadata.ts'
import type { Owner, TusStore, TusUpload } from './tus-store.ts'

export interface TusTools {
  uploads: TusStore
  storage: ObjectStorage
  videos: Pick<Client<typeof VideoServiceService>, 'uploadVideo'>
  maxBytes: number
  keptSeconds: number
}

const VERSION = '1.0.0'
/** A complete upload that is refused so becomes a video later. */
const LATER: readonly RefusalKind[] = ['unavailable', 'conflict', 'exhausted']
const PARTS_TYPE = 'application/offset+octet-stream'
/** Another writer that is asked to leave does so within a second, and one that died within three. */
const LEASE_WAIT_MS = 5_000
const LEASE_LOOK_MS = 200

/**
 * Resumable uploads: tus 1.0 with creation (also with the first bytes, and with the length told later), checksum, expiration and termination.
 * Written here because the protocol is small and what counts is ours: parts lie in the storage of all replicas, the offset is what is
 * durable, a row says who writes, and the end is a video.
 */
export function tusHandler(tools: TusTools): UploadHandler {
  return async (call) => {
    const { path, request } = call
    if (path !== '/tus' && !path.startsWith('/tus/')) return false
    const { principal } = call
    if (principal.kind !== 'user') throw new DomainError('unauthenticated', 'KEY_REQUIRED', 'this needs an API key')
    if (path === '/tus' && request.method === 'POST') {
      needVersion(request)
      await create(tools, call, principal)
    } else {
      const upload = await owned(tools, principal, path.slice('/tus/'.length), call.signal)
      needVersion(request)
      if (request.method === 'HEAD') await tell(tools, call, upload)
      else if (request.method === 'PATCH') await append(tools, call, upload)
      else if (request.method === 'DELETE') await terminate(tools, call, upload)
      else return false
    }
    return true
  }
}

function needVersion({ headers }: IncomingMessage): void {
  if (headers['tus-resumable'] === VERSION) return
  throw new DomainError('invalid', 'TUS_VERSION_UNKNOWN', `the header Tus-Resumable must be ${VERSION}`)
}

async function create(tools: TusTools, call: UploadCall, owner: Owner): Promise<void> {
  const { request, response, publicUrl } = call
  const metadata = String(request.headers['upload-metadata'] ?? '')
  const { title, filename, organisationId } = readMetadata(metadata)
  const isDeferred = request.headers['upload-defer-length'] === '1'
  const length = lengthOf(request, tools.maxBytes)
  if (isDeferred === (length !== undefined)) {
    throw invalid([{ field: 'Upload-Length', message: 'must be there, or Upload-Defer-Length: 1, and not both' }])
  }
  const upload = await tools.uploads.create(
    { uploadId: randomUUID(), organisationId: organisationFor(owner, organisationId), owner, metadata, title, filename, length },
    tools.keptSeconds,
  )
  const headers = { Location: `${publicUrl}/v2/upload/tus/${upload.uploadId}` }
  if (request.headers['content-type'] !== PARTS_TYPE) return answer(response, 201, { ...headers, ...shown(upload) })
  const now = await receive(tools, call, upload.uploadId, 0)
  answer(response, 201, { ...headers, ...shown(now), ...(await outcome(tools, now, call.signal)) })
}

async function tell(tools: TusTools, { response, signal }: UploadCall, { uploadId }: TusUpload): Promise<void> {
  // Whoever asks is about to go on: what the one before him still has in hand is to be counted.
  const held = await leaseOf(tools, uploadId, signal)
  await tools.uploads.release(uploadId, held.fence)
  // Told as success, it would look like one to clients: all bytes are there.
  if (held.refusal) throw refusalOf(held.refusal)
  answer(response, 200, {
    ...shown(held),
    ...(held.length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(held.length) }),
    ...(held.metadata !== '' && { 'Upload-Metadata': held.metadata }),
    ...ids(held),
    'Cache-Control': 'no-store',
  })
}

async function append(tools: TusTools, call: UploadCall, { uploadId, refusal }: TusUpload): Promise<void> {
  const { request, response, signal } = call
  // Wherever it goes on: an answer to HEAD has no body, so this is where the sentence is read.
  if (refusal) throw refusalOf(refusal)
  if (request.headers['content-type'] !== PARTS_TYPE) {
    throw new DomainError('invalid', 'UNSUPPORTED_MEDIA_TYPE', `the body must come as ${PARTS_TYPE}`)
  }
  const offset = wholeNumber(request, 'Upload-Offset')
  if (offset === undefined) throw invalid([{ field: 'Upload-Offset', message: 'must be a whole number' }])
  const now = await receive(tools, call, uploadId, offset)
  answer(response, 204, { ...shown(now), ...(await outcome(tools, now, signal)) })
}

async function terminate(tools: TusTools, { response }: UploadCall, { uploadId }: TusUpload): Promise<void> {
  if (!(await tools.uploads.drop(uploadId))) {
    throw new DomainError('refused', 'UPLOAD_FINISHED', 'the upload is complete: it is a video, or becomes one, and goes with it')
  }
  // While a backup copies, the sweep does it afterwards.
  if (!(await tools.uploads.isHeld())) await tools.storage.deletePrefix(`tus/${uploadId}`)
  answer(response, 204, {})
}

/** Adds the body behind what is there, as the only one who does; answers the upload after it. */
async function receive(tools: TusTools, { request, signal }: UploadCall, uploadId: string, offset: number): Promise<TusUpload> {
  const checksum = readChecksum(request.headers['upload-checksum'])
  const held = await leaseOf(tools, uploadId, signal)
  try {
    if (offset !== held.received) {
      throw new DomainError('conflict', 'OFFSET_MISMATCH', `the upload goes on at ${held.received}: ask with HEAD`, { retryAfter: 1 })
    }
    const told = lengthOf(request, tools.maxBytes)
    if (told !== undefined && told !== (held.length ?? told)) {
      throw invalid([{ field: 'Upload-Length', message: `was told before: ${held.length}` }])
    }
    const length = held.length ?? told
    if (length !== undefined && length < held.received) throw invalid([{ field: 'Upload-Length', message: 'is less than what is there' }])
    if (told !== undefined && held.length === undefined) await tools.uploads.setLength(uploadId, held.fence, told)
    const stopping = new AbortController()
    const stop = () => stopping.abort()
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    const received = await receiveParts(tools, held, request, { checksum, mostBytes: length ?? tools.maxBytes, stopping: stopping.signal })
    if (!request.complete) throw new DomainError('conflict', 'UPLOAD_LOCKED', 'somebody else goes on with this upload', { retryAfter: 1 })
    return { ...held, length, received }
  } finally {
    await tools.uploads.release(uploadId, held.fence)
  }
}

async function leaseOf({ uploads }: TusTools, uploadId: string, signal: AbortSignal): Promise<TusUpload> {
  for (const until = performance.now() + LEASE_WAIT_MS; ; ) {
    const held = await uploads.lease(uploadId)
    if (held) return held
    if (!(await uploads.find(uploadId, signal))) throw notFound('upload', uploadId)
    if (performance.now() > until) {
      throw new DomainError('conflict', 'UPLOAD_LOCKED', 'another request goes on with this upload: try again', { retryAfter: 1 })
    }
    await delay(LEASE_LOOK_MS, undefined, { signal })
  }
}

/** The video that a complete upload became. Where catalogue is away, or the organisation has too many jobs, it is made as soon as it can be. */
async function outcome(tools: TusTools, upload: TusUpload, signal: AbortSignal): Promise<Record<string, string>> {
  if (upload.length === undefined || upload.received < upload.length) return {}
  try {
    return ids(await finishUpload(tools, upload, signal))
  } catch (error) {
    if (isDomainError(error) && !isFinal(error) && LATER.includes(error.kind)) return {}
    throw error
  }
}

function ids({ videoId, jobId }: { videoId: string; jobId: string }): Record<string, string> {
  return videoId === '' ? {} : { 'X-Video-Id': videoId, 'X-Job-Id': jobId }
}

function shown({ received, expires }: TusUpload): Record<string, string> {
  return { 'Upload-Offset': String(received), 'Upload-Expires': expires.toUTCString() }
}

function answer(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, 'Tus-Resumable': VERSION, ...(status !== 204 && { 'Content-Length': '0' }) }).end()
}

async function owned(
  { uploads }: TusTools,
  caller: Principal & { kind: 'user' },
  uploadId: string,
  signal: AbortSignal,
): Promise<TusUpload> {
  const upload = isUuid(uploadId) ? await uploads.find(uploadId, signal) : undefined
  if (!upload || (caller.userType !== 'system' && caller.organisationId !== upload.organisationId)) throw notFound('upload', uploadId)
  return upload
}

function organisationFor(owner: Owner, named: string | undefined): string {
  if (owner.userType !== 'system') {
    if (named === undefined || named === owner.organisationId) return owner.organisationId
    throw new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'this key works in its own organisation only')
  }
  if (named !== undefined && /^[1-9]\d{0,18}$/.test(named)) return named
  throw invalid([{ field: 'Upload-Metadata', message: 'must have organisation_id with a system key' }])
}

function lengthOf(request: IncomingMessage, maxBytes: number): number | undefined {
  const length = wholeNumber(request, 'Upload-Length')
  if (length === 0) throw invalid([{ field: 'Upload-Length', message: 'must be above 0' }])
  if (length !== undefined && length > maxBytes) {
    throw new DomainError('invalid', 'UPLOAD_TOO_LARGE', `an upload has at most ${maxBytes} bytes`)
  }
  return length
}

function wholeNumber(request: IncomingMessage, name: string): number | undefined {
  const text = request.headers[name.toLowerCase()]
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw invalid([{ field: name, message: 'must be a whole number' }])
}
