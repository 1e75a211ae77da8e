import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@vitascope/concurrency'
import { type BodyLimits, tooLarge } from './guarded-body.ts'
import { type GuardedRequest, type GuardedResponse, guardedGet } from './guarded-get.ts'
import type { SourcePolicy } from './policy.ts'
import { getContentLength, getValidator, parseContentRange } from './response-headers.ts'
import { isSourceError, SourceError } from './source-error.ts'

export interface DownloadLimits extends BodyLimits {
  /** Time limit in ms for all attempts together. */
  timeoutMs: number
  /** Maximum number of attempts; 3 by default. */
  maxAttempts?: number
  /** Delay before the second attempt in ms, doubled before each further one; 500 by default. */
  backoffMs?: number
}

export interface DownloadOptions {
  policy: SourcePolicy
  limits: DownloadLimits
  signal?: AbortSignal
  /**
   * Called for every chunk. `total` is undefined if the source does not report it. After a restart
   * `bytes` starts from 0.
   */
  onProgress?: (progress: { bytes: number; total: number | undefined }) => void
}

export interface DownloadResult {
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** Content type from the source, or empty. Not verified. */
  contentType: string
}

/** State of a download: the part of the source that is in the file. */
interface Part {
  bytes: number
  total: number | undefined
  hash: ReturnType<typeof createHash>
  validator: string | undefined
}

/**
 * Downloads a source to a file, which is overwritten. After a broken connection it resumes if the
 * source is unchanged, else it restarts. A failed download deletes the file.
 */
export async function download(url: string, targetFile: string, options: DownloadOptions): Promise<DownloadResult> {
  const { maxAttempts = 3, backoffMs: minMs = 500 } = options.limits
  const deadline = performance.now() + options.limits.timeoutMs
  const part: Part = emptyPart()
  const file = await open(targetFile, 'w')
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetchRest(url, file, part, deadline, options)
      } catch (error) {
        if (!isSourceError(error) || !error.transient || attempt >= maxAttempts) throw error
        const wait = backoffMs(attempt, { minMs, maxMs: options.limits.timeoutMs })
        if (performance.now() + wait >= deadline) throw error
        await delay(wait, undefined, options.signal ? { signal: options.signal } : {})
      }
    }
  } catch (error) {
    await rm(targetFile, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function fetchRest(url: string, file: FileHandle, part: Part, deadline: number, options: DownloadOptions): Promise<DownloadResult> {
  const { policy, limits, signal, onProgress } = options
  const request: GuardedRequest = { policy, ...limits, timeoutMs: Math.max(1, deadline - performance.now()), ...(signal ? { signal } : {}) }
  const result = await requestRest(url, part, request)
  try {
    await prepareFile(result, file, part, limits)
    for await (const chunk of result.body as AsyncIterable<Buffer>) {
      if (part.bytes + chunk.length > limits.maxBytes) throw tooLarge(limits.maxBytes)
      await writeAll(file, chunk, part.bytes)
      part.hash.update(chunk)
      part.bytes += chunk.length
      onProgress?.({ bytes: part.bytes, total: part.total })
    }
  } finally {
    result.body.destroy()
  }
  if (part.total !== undefined && part.bytes !== part.total) throw restartPart(part)
  return { bytes: part.bytes, sha256: part.hash.digest('hex'), contentType: result.headers['content-type'] ?? '' }
}

async function requestRest(url: string, part: Part, request: GuardedRequest): Promise<GuardedResponse> {
  if (part.bytes === 0 || part.validator === undefined) return guardedGet(url, request)
  try {
    return await guardedGet(url, { ...request, from: { start: part.bytes, ifRange: part.validator } })
  } catch (error) {
    if (isSourceError(error) && error.status === 416) throw restartPart(part)
    throw error
  }
}

/**
 * Prepares the file for the body of a response. A 206 response must continue exactly at the end of
 * the file and be of the same version, else this throws. A 200 response contains the source from
 * its start, so the file is truncated.
 */
async function prepareFile({ status, headers }: GuardedResponse, file: FileHandle, part: Part, limits: BodyLimits): Promise<void> {
  const validator = getValidator(headers)
  if (status === 206) {
    const range = parseContentRange(headers)
    if (range?.start !== part.bytes || (validator !== undefined && validator !== part.validator)) throw restartPart(part)
    part.total = range.total ?? part.total
    if ((part.total ?? 0) > limits.maxBytes) throw tooLarge(limits.maxBytes)
    return
  }
  await file.truncate(0)
  Object.assign(part, emptyPart(), { total: getContentLength(headers), validator })
}

function emptyPart(): Part {
  return { bytes: 0, total: undefined, hash: createHash('sha256'), validator: undefined }
}

/**
 * Resets the part, which no longer matches the source, so that the next attempt restarts. Returns
 * the error of this attempt.
 */
function restartPart(part: Part): SourceError {
  Object.assign(part, emptyPart())
  return new SourceError(4001, 'the source changed while it was being fetched', { transient: true })
}

async function writeAll(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, written, chunk.length - written, position + written)
    written += bytesWritten
  }
}
