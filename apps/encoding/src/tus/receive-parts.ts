import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { DomainError, invalid } from '@vitascope/errors'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { untilAborted } from '../common/until-aborted.ts'
import { renewLease } from './renew-lease.ts'
import type { TusPart, TusStore, TusUpload } from './tus-store.ts'

/**
 * Size of a part. A killed process loses at most this many bytes of a request without a checksum.
 */
const PART_BYTES = 16 * 1024 * 1024

export interface ReceiveTools {
  uploads: TusStore
  storage: ObjectStorage
  retentionSeconds: number
  log: Logger
}

/**
 * Appends the body of a request to an upload whose lease the caller holds, in parts. Each part is
 * durable before the next one starts. If the body is aborted, or another request requests the
 * lease, the received bytes are kept. If the request has a checksum, its bytes are kept only if
 * they are complete and match it. Returns the new offset.
 */
export async function receiveParts(
  { uploads, storage, retentionSeconds, log }: ReceiveTools,
  upload: TusUpload,
  request: IncomingMessage,
  {
    checksum,
    maxBytes,
    onPart,
    stopping,
  }: {
    checksum: Checksum | undefined
    maxBytes: number
    /** Called with the new length before a part counts. It throws to reject the part. */
    onPart: (received: number) => Promise<void>
    stopping: AbortSignal
  },
): Promise<number> {
  const { uploadId, fence } = upload
  const lease = renewLease({ uploads, log }, upload)
  const ended = AbortSignal.any([lease.lost, stopping])
  const body = splitBody(request, ended)
  const hash = checksum && createHash(checksum.algorithm)
  const unrecorded: TusPart[] = []
  let received = upload.received
  let isTooLong = false
  try {
    for (let number = 0; ; number++) {
      let bytes = 0
      const part = body.readUpTo(PART_BYTES, (chunk) => {
        bytes += chunk.length
        hash?.update(chunk)
        if (received + bytes > maxBytes) isTooLong = true
      })
      if (!(await part.hasBytes())) break
      const object = `tus/${uploadId}/${fence}-${number}`
      await storage.put(object, part.stream())
      unrecorded.push({ object, bytes })
      if (isTooLong) throw invalid([{ field: 'Upload-Length', message: `the body exceeds the ${maxBytes} bytes of the upload` }])
      received += bytes
      await onPart(received)
      if (!checksum) await recordParts()
    }
    if (checksum) {
      if (!body.isComplete() && lease.lost.aborted) throw uploadLocked()
      if (!body.isComplete()) throw new DOMException('the caller cancelled the call', 'AbortError')
      if (hash?.digest('base64') !== checksum.value)
        throw new DomainError('invalid', 'CHECKSUM_MISMATCH', 'the bytes do not match the checksum')
      await recordParts()
    }
    return received
  } finally {
    await lease.stop()
    for (const { object } of unrecorded) {
      await storage
        .delete(object)
        .catch((error: unknown) => log.warn({ err: error, upload_id: uploadId, object }, 'deleting a rejected part of an upload failed'))
    }
  }

  async function recordParts(): Promise<void> {
    if (unrecorded.length === 0) return
    if (!(await uploads.addParts(uploadId, fence, unrecorded, retentionSeconds))) throw uploadLocked()
    unrecorded.length = 0
  }
}

/** Returns the error for a request whose upload another request continues. */
export function uploadLocked(): DomainError {
  return new DomainError('conflict', 'UPLOAD_LOCKED', 'another request continues this upload; try again', { retryAfter: 1 })
}

export interface Checksum {
  algorithm: string
  /** Base64. */
  value: string
}

/** Parses `Upload-Checksum: sha1 …`. Throws for a malformed header. */
export function readChecksum(header: string | string[] | undefined): Checksum | undefined {
  if (header === undefined) return undefined
  const [, algorithm, value] = /^(md5|sha1|sha256) ([A-Za-z0-9+/]+={0,2})$/.exec(String(header)) ?? []
  if (algorithm !== undefined && value !== undefined) return { algorithm, value }
  throw invalid([{ field: 'Upload-Checksum', message: 'must be md5, sha1 or sha256, a space, and the checksum in Base64' }])
}

/**
 * Splits a body into portions. They end when the body ends or is aborted, or when `ended` aborts.
 */
function splitBody(request: IncomingMessage, ended: AbortSignal) {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  let rest: Buffer | undefined
  let isDone = false
  const readChunk = async (): Promise<Buffer | undefined> => {
    if (rest) return rest
    if (isDone) return undefined
    // An aborted body is treated as ended.
    const result = await untilAborted(chunks.next(), ended).catch(() => ({ done: true as const, value: undefined }))
    isDone = result.done === true
    rest = result.done ? undefined : result.value
    return rest
  }
  return {
    isComplete: () => request.complete && rest === undefined && !ended.aborted,
    readUpTo(max: number, onChunk: (chunk: Buffer) => void) {
      async function* portion(): AsyncGenerator<Buffer> {
        for (let remainingBytes = max; remainingBytes > 0; ) {
          const chunk = await readChunk()
          if (!chunk) return
          const head = chunk.subarray(0, remainingBytes)
          rest = head.length < chunk.length ? chunk.subarray(head.length) : undefined
          remainingBytes -= head.length
          onChunk(head)
          yield head
        }
      }
      return { hasBytes: async () => (await readChunk()) !== undefined, stream: () => Readable.from(portion(), { objectMode: false }) }
    },
  }
}
