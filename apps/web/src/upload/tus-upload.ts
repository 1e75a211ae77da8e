import { askTus, type TusAnswer, type TusRequest, Unreachable } from './tus-request.ts'

export interface TusUpload {
  file: Blob
  key: string
  /** `filename`, `title`, `organisation_id`; empty ones are left out. */
  metadata: Record<string, string>
  /** The path of an upload that was begun before; one that is gone is begun anew. */
  begun?: string | undefined
  onBegun: (path: string) => void
  /** Bytes that are there or on their way. */
  onProgress: (bytes: number) => void
  /** The server was lost, or is back. */
  onConnection: (isThere: boolean) => void
  signal: AbortSignal
}

/** The server will not take the upload, whatever is tried. */
export class UploadRefused extends Error {
  readonly status: number
  constructor({ status, problem }: TusAnswer) {
    super(problem || `the server answers ${status}`)
    this.name = 'UploadRefused'
    this.status = status
  }
}

/** So much in one request: proxies often bound bodies, and less is sent again after a break. */
const partBytes = 64 * 2 ** 20
const endpoint = '/v2/upload/tus'
/** Seconds between tries while the server is away; the last one again and again. */
const pauses = [1, 2, 4, 8, 15]

/** Uploads a file, through breaks of the line and restarts of the server, and answers the id of the video that it becomes. */
export async function uploadByTus(upload: TusUpload): Promise<string> {
  let path = upload.begun
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
        // All bytes are there, and the video is not yet.
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

/** Gives an upload up; what is left behind is swept by the server within a day. */
export async function dropUpload(path: string, key: string): Promise<void> {
  await askTus({ method: 'DELETE', path, key, signal: AbortSignal.timeout(10_000) }).catch(() => {})
}

async function begin({ file, key, metadata, onBegun, signal }: TusUpload): Promise<string> {
  const headers = { 'Upload-Length': String(file.size), 'Upload-Metadata': metadataHeader(metadata) }
  const answer = await askTus({ method: 'POST', path: endpoint, key, headers, signal })
  if (answer.status !== 201) throw faultOf(answer)
  // Whatever host name the server gives itself: this page is served by it, so it is here.
  const path = new URL(answer.header('Location') ?? '', location.href).pathname
  onBegun(path)
  return path
}

/** Undefined where there is no such upload any more. */
async function headOf(upload: TusUpload, path: string): Promise<{ offset: number; videoId: string } | undefined> {
  const { file, key, signal } = upload
  const answer = await askTus({ method: 'HEAD', path, key, signal })
  if (answer.status === 404) return undefined
  if (answer.status !== 200) {
    // This answer has no body: the reason is read where the upload would go on.
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
  // Another place than ours: asked for again, it is known.
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

/** What is over soon counts as a server that is away. */
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
