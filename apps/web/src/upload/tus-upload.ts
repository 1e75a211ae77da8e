import { sendTusRequest, type TusRequest, type TusResponse, Unreachable } from './tus-request.ts'

export interface TusUpload {
  file: Blob
  key: string
  /** Values of `filename`, `title` and `organisation_id`. Empty values are omitted. */
  metadata: Record<string, string>
  /** Path of an earlier upload that is resumed. If it no longer exists, a new upload is created. */
  resumePath?: string | undefined
  onCreated: (path: string) => void
  /** Reports bytes that are stored or in flight. */
  onProgress: (bytes: number) => void
  /** Reports that the connection to the server is lost or restored. */
  onConnection: (isConnected: boolean) => void
  signal: AbortSignal
}

/** The server rejects the upload, and a retry cannot succeed. */
export class UploadRejected extends Error {
  readonly status: number
  constructor({ status, problem }: TusResponse) {
    super(problem || `the server returned status ${status}`)
    this.name = 'UploadRejected'
    this.status = status
  }
}

/**
 * Bytes per request. Proxies often limit body sizes, and after an interruption less data is sent
 * again.
 */
const PART_BYTES = 64 * 2 ** 20
const UPLOAD_PATH = '/v2/upload/tus'
/** Seconds between attempts during an outage. The last value repeats. */
const RETRY_DELAYS_SECONDS = [1, 2, 4, 8, 15]

/**
 * Uploads a file, through interruptions and server restarts. Returns the id of the created video.
 */
export async function uploadByTus(upload: TusUpload): Promise<string> {
  let path = upload.resumePath
  for (let failures = 0; ; ) {
    try {
      path ??= await createUpload(upload)
      const state = await fetchUploadState(upload, path)
      if (failures > 0) upload.onConnection(true)
      failures = 0
      if (!state) path = undefined
      else if (state.videoId !== '') return state.videoId
      else if (state.offset < upload.file.size) await sendPart(upload, path, state.offset)
      else {
        // All bytes are stored, but the video does not exist yet.
        upload.onProgress(upload.file.size)
        await pause(1, upload.signal)
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      if (failures === 0) upload.onConnection(false)
      await pause(RETRY_DELAYS_SECONDS[Math.min(failures++, RETRY_DELAYS_SECONDS.length - 1)] ?? 1, upload.signal)
    }
  }
}

/** Cancels an upload. The server deletes the incomplete upload within a day. */
export async function deleteUpload(path: string, key: string): Promise<void> {
  await sendTusRequest({ method: 'DELETE', path, key, signal: AbortSignal.timeout(10_000) }).catch(() => {})
}

async function createUpload({ file, key, metadata, onCreated, signal }: TusUpload): Promise<string> {
  const headers = { 'Upload-Length': String(file.size), 'Upload-Metadata': formatMetadata(metadata) }
  const response = await sendTusRequest({ method: 'POST', path: UPLOAD_PATH, key, headers, signal })
  if (response.status !== 201) throw toError(response)
  // Only the path is used, because the server may use another host name in `Location`. This page
  // has the same origin as the uploads.
  const path = new URL(response.header('Location') ?? '', location.href).pathname
  onCreated(path)
  return path
}

/** Fetches the state of an upload. Returns undefined if the upload no longer exists. */
async function fetchUploadState(upload: TusUpload, path: string): Promise<{ offset: number; videoId: string } | undefined> {
  const { file, key, signal } = upload
  const response = await sendTusRequest({ method: 'HEAD', path, key, signal })
  if (response.status === 404) return undefined
  if (response.status !== 200) {
    // A HEAD response has no body. An empty PATCH gets the reason.
    const rejection = isTemporary(response) ? response : await sendPatch(upload, path, file.size)
    throw toError(rejection.status < 400 ? response : rejection)
  }
  return { offset: Number(response.header('Upload-Offset')), videoId: response.header('X-Video-Id') ?? '' }
}

async function sendPart(upload: TusUpload, path: string, offset: number): Promise<void> {
  const { file, onProgress } = upload
  onProgress(offset)
  const response = await sendPatch(upload, path, offset, {
    body: file.slice(offset, offset + PART_BYTES),
    onSent: (bytes) => onProgress(offset + bytes),
  })
  // 409 means that the offset differs. The next HEAD request returns the actual offset.
  if (response.status !== 204 && response.status !== 409) throw toError(response)
}

function sendPatch(
  { key, signal }: TusUpload,
  path: string,
  offset: number,
  bytes: Pick<TusRequest, 'body' | 'onSent'> = {},
): Promise<TusResponse> {
  const headers = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) }
  return sendTusRequest({ method: 'PATCH', path, key, headers, ...bytes, signal })
}

/** Returns the error of a response. Temporary errors are handled like an unreachable server. */
function toError(response: TusResponse): Error {
  return isTemporary(response) ? new Unreachable() : new UploadRejected(response)
}

function isTemporary({ status }: TusResponse): boolean {
  return [408, 423, 425, 429].includes(status) || status >= 500
}

export function formatMetadata(metadata: Record<string, string>): string {
  const encodeBase64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  return Object.entries(metadata)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name} ${encodeBase64(value)}`)
    .join(',')
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = window.setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, seconds * 1_000)
    signal.addEventListener('abort', abort, { once: true })
  })
}
