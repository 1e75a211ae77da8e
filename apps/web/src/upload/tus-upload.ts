import { askTus, type TusAnswer, type TusRequest, Unreachable } from './tus-request.ts'

export interface TusUpload {
  file: Blob
  key: string
  /** `filename`, `title`, `organisation_id`. Empty ones are omitted. */
  metadata: Record<string, string>
  /** Path of an earlier upload that is resumed. If it no longer exists, a new upload is created. */
  resumePath?: string | undefined
  onCreated: (path: string) => void
  /** Reports bytes that are stored or in flight. */
  onProgress: (bytes: number) => void
  /** Reports that the connection to the server is lost or restored. */
  onConnection: (isThere: boolean) => void
  signal: AbortSignal
}

/** The server rejects the upload, and a retry cannot succeed. */
export class UploadRefused extends Error {
  readonly status: number
  constructor({ status, problem }: TusAnswer) {
    super(problem || `the server answers ${status}`)
    this.name = 'UploadRefused'
    this.status = status
  }
}

/**
 * Bytes per request. Proxies often limit body sizes, and after an interruption less data is sent
 * again.
 */
const partBytes = 64 * 2 ** 20
const endpoint = '/v2/upload/tus'
/** Seconds between attempts during an outage. The last value repeats. */
const pauses = [1, 2, 4, 8, 15]

/**
 * Uploads a file, through interruptions and server restarts. Returns the id of the created video.
 */
export async function uploadByTus(upload: TusUpload): Promise<string> {
  let path = upload.resumePath
  for (let failures = 0; ; ) {
    try {
      path ??= await begin(upload)
      const now = await headOf(upload, path)
      if (failures > 0) upload.onConnection(true)
      failures = 0
      if (!now) path = undefined
      else if (now.videoId !== '') return now.videoId
      else if (now.offset < upload.file.size) await send(upload, path, now.offset)
      else {
        // All bytes are stored, but the video does not exist yet.
        upload.onProgress(upload.file.size)
        await pause(1, upload.signal)
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      if (failures === 0) upload.onConnection(false)
      await pause(pauses[Math.min(failures++, pauses.length - 1)] ?? 1, upload.signal)
    }
  }
}

/** Cancels an upload. The server deletes the remains within a day. */
export async function dropUpload(path: string, key: string): Promise<void> {
  await askTus({ method: 'DELETE', path, key, signal: AbortSignal.timeout(10_000) }).catch(() => {})
}

async function begin({ file, key, metadata, onCreated, signal }: TusUpload): Promise<string> {
  const headers = { 'Upload-Length': String(file.size), 'Upload-Metadata': metadataHeader(metadata) }
  const answer = await askTus({ method: 'POST', path: endpoint, key, headers, signal })
  if (answer.status !== 201) throw faultOf(answer)
  // Only the path is used, because the server may use another host name in `Location`. This page
  // has the same origin as the uploads.
  const path = new URL(answer.header('Location') ?? '', location.href).pathname
  onCreated(path)
  return path
}

/** Returns undefined if the upload no longer exists. */
async function headOf(upload: TusUpload, path: string): Promise<{ offset: number; videoId: string } | undefined> {
  const { file, key, signal } = upload
  const answer = await askTus({ method: 'HEAD', path, key, signal })
  if (answer.status === 404) return undefined
  if (answer.status !== 200) {
    // A HEAD response has no body. An empty PATCH gets the reason.
    const why = passes(answer) ? answer : await patch(upload, path, file.size)
    throw faultOf(why.status < 400 ? answer : why)
  }
  return { offset: Number(answer.header('Upload-Offset')), videoId: answer.header('X-Video-Id') ?? '' }
}

async function send(upload: TusUpload, path: string, offset: number): Promise<void> {
  const { file, onProgress } = upload
  onProgress(offset)
  const answer = await patch(upload, path, offset, {
    body: file.slice(offset, offset + partBytes),
    onSent: (bytes) => onProgress(offset + bytes),
  })
  // 409 means that the offset differs. The next HEAD request returns the actual offset.
  if (answer.status !== 204 && answer.status !== 409) throw faultOf(answer)
}

function patch(
  { key, signal }: TusUpload,
  path: string,
  offset: number,
  bytes: Pick<TusRequest, 'body' | 'onSent'> = {},
): Promise<TusAnswer> {
  const headers = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) }
  return askTus({ method: 'PATCH', path, key, headers, ...bytes, signal })
}

/** Temporary errors are handled like an unreachable server. */
function faultOf(answer: TusAnswer): Error {
  return passes(answer) ? new Unreachable() : new UploadRefused(answer)
}

function passes({ status }: TusAnswer): boolean {
  return [408, 423, 425, 429].includes(status) || status >= 500
}

export function metadataHeader(metadata: Record<string, string>): string {
  const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
  return Object.entries(metadata)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name} ${base64(value)}`)
    .join(',')
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((wake, stop) => {
    signal.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      stop(signal.reason)
    }
    const timer = window.setTimeout(() => {
      signal.removeEventListener('abort', abort)
      wake()
    }, seconds * 1_000)
    signal.addEventListener('abort', abort, { once: true })
  })
}
