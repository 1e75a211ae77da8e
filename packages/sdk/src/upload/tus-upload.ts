import { invalidArgument, VitascopeError } from '../error.ts'
import type { RequestName } from '../response-error.ts'
import type { Transport } from '../transport.ts'
import { wait } from '../wait.ts'
import type { UploadSource } from './upload-source.ts'

/** Bytes that the platform has stored durably. */
export interface UploadProgress {
  sentBytes: number
  /** Undefined for a stream, until its end. */
  totalBytes: number | undefined
}

/** A video that was created by an upload. */
export interface UploadedVideo {
  /** Id of the video. */
  id: string
  /** Id of its encode job. Empty if the platform does not report it. */
  job_id: string
}

export interface TransferOptions {
  /** Called after each part, at least every few seconds on a working connection. */
  onProgress?: (progress: UploadProgress) => void
  signal?: AbortSignal | undefined
  /**
   * Milliseconds without stored bytes after which a broken upload fails. 0 disables retries. Default:
   * 300,000 (five minutes).
   */
  maxOutageMs?: number
}

export interface TusTarget {
  transport: Transport
  /** Path of an earlier upload, or undefined for a new one. If it has been removed, a new one is created. */
  path: string | undefined
  /** Creates the upload and returns its path. */
  create: () => Promise<string>
  /** Called with the path of the upload that is continued or was created. */
  onOpen: (path: string) => void
}

export const TUS = { 'tus-resumable': '1.0.0' }
const DEFAULT_OUTAGE_MS = 300_000
/** Target duration of a part: the interval of progress reports, and the time that an interruption loses. */
const PART_TARGET_MS = 2_000
const FIRST_PART_BYTES = 2 ** 20
const MIN_PART_BYTES = 2 ** 16
/** The platform stores parts of at most this size. A stream keeps one part in memory. */
const MAX_PART_BYTES = 2 ** 24
const MAX_BACKOFF_MS = 10_000
const FIRST_BACKOFF_MS = 250
const POLL_MS = 1_000
/** Statuses after which the offset is requested and the upload continues. 0 is a failed connection. */
const TEMPORARY = new Set([0, 408, 423, 429])

interface State {
  offset: number
  video: UploadedVideo | undefined
}

/**
 * Sends a source by tus 1.0 and returns the video. After an interruption it requests the offset and
 * continues there. Throws a `VitascopeError`, or the reason of the signal.
 */
export async function uploadByTus(target: TusTarget, source: UploadSource, options: TransferOptions): Promise<UploadedVideo> {
  const { transport } = target
  const { signal, onProgress = () => {}, maxOutageMs = DEFAULT_OUTAGE_MS } = options
  requireBytes(source.size)
  const { path, ...opened } = await openUpload(target, signal)
  target.onOpen(path)
  let state: State = opened
  let { size } = source
  let partBytes = FIRST_PART_BYTES
  let lastStoredMs = performance.now()
  let failures = 0
  onProgress({ sentBytes: state.offset, totalBytes: size })

  /** Waits, and updates the offset. Throws the error if the upload must not continue. */
  const recover = async (error: unknown): Promise<void> => {
    if (!isTemporary(error)) throw error
    let lastError: unknown = error
    for (;;) {
      if (performance.now() - lastStoredMs >= maxOutageMs) throw lastError
      const { retryAfterSeconds = 0 } = lastError as VitascopeError
      await wait(Math.max(retryAfterSeconds * 1000, Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures++)), signal)
      try {
        const next = await readState(transport, path, signal, 0)
        if (next.offset > state.offset) {
          lastStoredMs = performance.now()
          failures = 0
        }
        // If all bytes of the part are stored, only its response was lost.
        if (next.offset < state.offset + partBytes) partBytes = Math.max(MIN_PART_BYTES, Math.floor(partBytes / 2))
        state = next
        return
      } catch (failure) {
        if (!isTemporary(failure)) throw failure
        lastError = failure
      }
    }
  }

  while (state.video === undefined) {
    try {
      if (size !== undefined && state.offset >= size) {
        // All bytes are stored. The video does not exist yet while the catalogue is unavailable.
        if (performance.now() - lastStoredMs >= maxOutageMs) throw notCreatedYet()
        await wait(POLL_MS, signal)
        state = await readState(transport, path, signal, 0)
        continue
      }
      const { offset } = state
      const part = await source.read(offset, partBytes, signal).catch(toSourceError)
      const length = part instanceof Blob ? part.size : part.length
      if (size !== undefined && length < Math.min(partBytes, size - offset)) throw sourceChanged()
      if (size === undefined && length < partBytes) size = requireBytes(offset + length)
      const startedMs = performance.now()
      const sent = await sendPart(transport, { path, part, offset, total: source.size === undefined ? size : undefined, signal })
      if (sent.offset <= offset) throw notStored()
      partBytes = nextPartBytes(partBytes, performance.now() - startedMs)
      failures = 0
      lastStoredMs = performance.now()
      state = sent
    } catch (error) {
      signal?.throwIfAborted()
      await recover(error)
    }
    onProgress({ sentBytes: state.offset, totalBytes: size })
  }
  return state.video
}

/** Continues the earlier upload, or creates one if there is no earlier upload or the platform has removed it. */
async function openUpload({ transport, path, create }: TusTarget, signal: AbortSignal | undefined): Promise<State & { path: string }> {
  if (path !== undefined) {
    try {
      return { path, ...(await readState(transport, path, signal)) }
    } catch (error) {
      if (!(error instanceof VitascopeError && error.code === 'upload_not_found')) throw error
    }
  }
  return { path: await create(), offset: 0, video: undefined }
}

interface Part {
  path: string
  part: Uint8Array<ArrayBuffer> | Blob
  offset: number
  /** Size of the source, if its last part has revealed it. */
  total: number | undefined
  signal: AbortSignal | undefined
}

function sendPart(transport: Transport, { path, part, offset, total, signal }: Part): Promise<State> {
  const headers = {
    ...TUS,
    'content-type': 'application/offset+octet-stream',
    'upload-offset': String(offset),
    ...(total !== undefined && { 'upload-length': String(total) }),
  }
  const request = { method: 'PATCH', path, operation: 'uploads by tus', headers, body: part, signal, isRepeatable: false, maxRetries: 0 }
  return transport.send(request, toState)
}

/**
 * Requests the offset of an upload, by default with the retries of the transport. If the platform rejects the HEAD request, its response has no body and so no
 * reason. An empty part is then sent, because the response to it contains the reason.
 */
async function readState(transport: Transport, path: string, signal: AbortSignal | undefined, maxRetries?: number): Promise<State> {
  const request = { method: 'HEAD', path, operation: 'uploads by tus', headers: TUS, signal, isRepeatable: true, maxRetries }
  try {
    return await transport.send(request, toState)
  } catch (error) {
    if (!(error instanceof VitascopeError && error.code.startsWith('http_4')) || isTemporary(error)) throw error
    return sendPart(transport, { path, part: new Uint8Array(), offset: 0, total: undefined, signal })
  }
}

async function toState({ headers }: Response, { origin, method }: RequestName): Promise<State> {
  const offset = headers.get('upload-offset')
  if (offset === null || !/^\d+$/.test(offset)) {
    throw new VitascopeError(`A proxy before ${origin} answered ${method} of an upload, or removed the header Upload-Offset.`, {
      code: 'not_vitascope',
    })
  }
  const id = headers.get('x-video-id')
  return { offset: Number(offset), video: id === null ? undefined : { id, job_id: headers.get('x-job-id') ?? '' } }
}

/** Returns the size at which the next part takes about `PART_TARGET_MS`. The size at most doubles or halves. */
function nextPartBytes(partBytes: number, milliseconds: number): number {
  const bytes = (partBytes * PART_TARGET_MS) / Math.max(milliseconds, 1)
  const next = Math.min(Math.max(bytes, partBytes / 2), partBytes * 2)
  return Math.round(Math.min(Math.max(next, MIN_PART_BYTES), MAX_PART_BYTES))
}

/** Statuses of rejections that can end while an upload exists: of the key or session, and of limits. */
const LATER_POSSIBLE = new Set([401, 403, 408, 423, 429])

/**
 * Returns true if an upload that failed with this error cannot be continued, so that its id is useless. After other
 * errors, such as `network_error`, `uploadId` continues it.
 */
export function isUploadOver(error: unknown): boolean {
  return error instanceof VitascopeError && error.status >= 400 && error.status < 500 && !LATER_POSSIBLE.has(error.status)
}

function isTemporary(error: unknown): boolean {
  if (!(error instanceof VitascopeError)) return false
  const { status, code } = error
  if (status === 0) return code === 'network_error' || code === 'timeout'
  return TEMPORARY.has(status) || status >= 500 || code === 'offset_mismatch'
}

function toSourceError(cause: unknown): never {
  if (cause instanceof VitascopeError) throw cause
  const reason = (cause as Error | undefined)?.message ?? String(cause)
  throw new VitascopeError(`The file or stream of the upload cannot be read: ${reason}.`, { code: 'source_failed', cause })
}

function notCreatedYet(): VitascopeError {
  return new VitascopeError('All bytes are stored, but the platform has not created the video yet. It creates it later.', {
    code: 'wait_timeout',
  })
}

function requireBytes<Size extends number | undefined>(size: Size): Size {
  if (size === 0) throw invalidArgument('The file or stream of an upload is empty.')
  return size
}

function notStored(): VitascopeError {
  return new VitascopeError('The platform, or a proxy before it, accepted a part of an upload without storing it.', {
    code: 'server_error',
  })
}

function sourceChanged(): VitascopeError {
  return new VitascopeError('The file became shorter during its upload.', { code: 'source_changed' })
}
