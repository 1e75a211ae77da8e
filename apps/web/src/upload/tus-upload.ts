import { DetailedError, type HttpResponse, Upload } from 'tus-js-client'
import { pause } from '../recovery/pause.ts'
import { fetchHttpStack } from './fetch-http-stack.ts'
import { DEFAULT_PART_BYTES, nextPartBytes } from './part-size.ts'
import { FileUnreadable, RequestRejected, TemporaryFailure, toRequestError } from './problem.ts'
import { createBackoff, type Waiting } from './retry.ts'

export interface TusUpload {
  file: Blob
  key: string
  /**
   * Values of `filename`, `title`, `organisation_id` and `visibility`. Empty values are omitted.
   */
  metadata: Record<string, string>
  /** Path of an earlier upload that is resumed. If it no longer exists, a new upload is created. */
  resumePath: string | undefined
  onCreated: (path: string) => void
  /** Reports the number of bytes that the server has stored. */
  onProgress: (bytes: number) => void
  /** Reports why the upload waits. Undefined: it continues. */
  onWaiting: (waiting: Waiting) => void
  signal: AbortSignal
}

const UPLOAD_PATH = '/v2/upload/tus'
/** Milliseconds between requests for the video of a complete upload. */
const POLL_INTERVAL_MS = 1_000

/**
 * Uploads a file, through interruptions and server restarts. Returns the id of the created video.
 * Throws `RequestRejected` or `FileUnreadable`, or the reason of the signal.
 */
export async function uploadByTus(upload: TusUpload): Promise<string> {
  const { file, signal, onWaiting } = upload
  const backoff = createBackoff(signal)
  const transfer: Transfer = { path: upload.resumePath, partBytes: DEFAULT_PART_BYTES }
  const onResponse = () => {
    backoff.reset()
    onWaiting(undefined)
  }
  for (;;) {
    const isResumed = transfer.path !== undefined
    try {
      const videoId = await sendParts(upload, transfer, onResponse)
      if (videoId !== '') return videoId
      // All bytes are stored, but the video does not exist yet.
      await pause(POLL_INTERVAL_MS, signal)
      signal.throwIfAborted()
    } catch (error) {
      if (isResumed && error instanceof RequestRejected && (error.status === 404 || error.status === 410)) {
        transfer.path = undefined
        continue
      }
      if (error instanceof TemporaryFailure && !signal.aborted) {
        await requireReadable(file)
        transfer.partBytes = nextPartBytes(transfer.partBytes, 0, 0)
        onWaiting(error.reason)
      }
      await backoff.wait(error)
    }
  }
}

/**
 * Cancels an upload. If the request fails, the server deletes the incomplete upload within a day.
 */
export async function deleteUpload(path: string, key: string): Promise<void> {
  await Upload.terminate(toAddress(path), { httpStack: fetchHttpStack, headers: toHeaders(key), retryDelays: null }).catch(() => {})
}

interface Transfer {
  path: string | undefined
  partBytes: number
}

/**
 * Creates or resumes the upload, and sends the rest of the file. Returns the id of the video, or an
 * empty text if it does not exist yet. The library does not retry here: its number of retries is
 * fixed, and it creates a second upload when an existing one cannot be read.
 */
function sendParts(upload: TusUpload, transfer: Transfer, onResponse: () => void): Promise<string> {
  const { file, key, metadata, onCreated, onProgress, signal } = upload
  const { path } = transfer
  const ended = new AbortController()
  return new Promise<string>((resolve, reject) => {
    signal.throwIfAborted()
    let partStartMs = performance.now()
    const client = new Upload(file, {
      httpStack: fetchHttpStack,
      endpoint: path === undefined ? toAddress(UPLOAD_PATH) : null,
      uploadUrl: path === undefined ? null : toAddress(path),
      headers: toHeaders(key),
      metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== '')),
      chunkSize: transfer.partBytes,
      retryDelays: null,
      storeFingerprintForResuming: false,
      onUploadUrlAvailable() {
        onResponse()
        if (path === undefined) {
          transfer.path = toPath(client.url ?? '')
          onCreated(transfer.path)
        }
        partStartMs = performance.now()
      },
      onProgress,
      onChunkComplete(bytes) {
        const nowMs = performance.now()
        transfer.partBytes = nextPartBytes(transfer.partBytes, bytes, nowMs - partStartMs)
        client.options.chunkSize = transfer.partBytes
        partStartMs = nowMs
      },
      onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader('X-Video-Id') ?? ''),
      onError: (error) => toError(upload, error).then(reject, reject),
    })
    signal.addEventListener(
      'abort',
      () => {
        void client.abort()
        reject(signal.reason)
      },
      { once: true, signal: ended.signal },
    )
    client.start()
  }).finally(() => ended.abort())
}

async function toError({ file, key }: TusUpload, error: Error): Promise<Error> {
  if (!(error instanceof DetailedError)) return error
  const { originalRequest: request, originalResponse: response } = error
  if (response === null) return new TemporaryFailure('unreachable')
  const requestError = responseError(response)
  if (request.getMethod() !== 'HEAD' || requestError instanceof TemporaryFailure || response.getStatus() === 404) return requestError
  return (await fetchReason(request.getURL(), key, file.size)) ?? requestError
}

/** The response to a HEAD request has no body. An empty PATCH gets the reason of a rejection. */
async function fetchReason(path: string, key: string, offset: number): Promise<Error | undefined> {
  const request = fetchHttpStack.createRequest('PATCH', path)
  const headers = { ...toHeaders(key), 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) }
  for (const [name, value] of Object.entries({ ...headers, 'Tus-Resumable': '1.0.0' })) request.setHeader(name, value)
  try {
    const response = await request.send(null)
    return response.getStatus() < 400 ? undefined : responseError(response)
  } catch {
    return new TemporaryFailure('unreachable')
  }
}

function responseError(response: HttpResponse): Error {
  // The library reports a success response without the required headers as an error. Only a proxy
  // sends one.
  if (response.getStatus() < 400) return new TemporaryFailure('unreachable')
  return toRequestError(response.getStatus(), response.getBody(), response.getHeader('Retry-After'))
}

/**
 * Throws `FileUnreadable` if the file cannot be read. A request with such a body fails in the same
 * way as one without a connection.
 */
async function requireReadable(file: Blob): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new FileUnreadable()
    })
}

function toHeaders(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` }
}

function toAddress(path: string): string {
  return new URL(path, location.href).href
}

function toPath(url: string): string {
  return new URL(url, location.href).pathname
}
