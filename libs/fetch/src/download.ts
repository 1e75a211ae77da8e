import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { announcedBytes, contentRangeOf, validatorOf } from './answer-headers.ts'
import { type BodyLimits, tooLarge } from './guarded-body.ts'
import { type GuardedAnswer, type GuardedRequest, guardedGet } from './guarded-get.ts'
import type { SourcePolicy } from './policy.ts'
import { isSourceError, SourceError } from './source-error.ts'

export interface DownloadLimits extends BodyLimits {
  /** For all tries together. */
  timeoutMs: number
  /** 3 by default. */
  tries?: number
  /** Before the second try, doubled before each further one; 500 by default. */
  backoffMs?: number
}

export interface DownloadOptions {
  policy: SourcePolicy
  limits: DownloadLimits
  signal?: AbortSignal
  /** Called for every chunk; `total` is undefined while the source does not tell. After a restart `bytes` begins again. */
  onProgress?: (progress: { bytes: number; total: number | undefined }) => void
}

export interface Downloaded {
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** As the source says; empty where it says nothing. A hint, never proof. */
  contentType: string
}

/** What has been written so far. */
interface Part {
  bytes: number
  total: number | undefined
  hash: ReturnType<typeof createHash>
  validator: string | undefined
}

/**
 * Downloads a source into a file, in place of what was there. After a cut it goes on where it was if the source is still the same, else from
 * the beginning. When it fails, nothing is left of the file.
 */
export async function download(url: string, targetFile: string, options: DownloadOptions): Promise<Downloaded> {
  const { tries = 3, backoffMs = 500 } = options.limits
  const deadline = performance.now() + options.limits.timeoutMs
  const part: Part = emptyPart()
  const file = await open(targetFile, 'w')
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetchRest(url, file, part, deadline, options)
      } catch (error) {
        if (!isSourceError(error) || !error.transient || attempt >= tries) throw error
        const wait = backoffMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2)
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

async function fetchRest(url: string, file: FileHandle, part: Part, deadline: number, options: DownloadOptions): Promise<Downloaded> {
  const { policy, limits, signal, onProgress } = options
  const request: GuardedRequest = { policy, ...limits, timeoutMs: Math.max(1, deadline - performance.now()), ...(signal ? { signal } : {}) }
  const answer = await ask(url, part, request)
  try {
    await begin(answer, file, part, limits)
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (part.bytes + chunk.length > limits.maxBytes) throw tooLarge(limits.maxBytes)
      await writeAll(file, chunk, part.bytes)
      part.hash.update(chunk)
      part.bytes += chunk.length
      onProgress?.({ bytes: part.bytes, total: part.total })
    }
  } finally {
    answer.body.destroy()
  }
  if (part.total !== undefined && part.bytes !== part.total) throw changed(part)
  return { bytes: part.bytes, sha256: part.hash.digest('hex'), contentType: answer.headers['content-type'] ?? '' }
}

async function ask(url: string, part: Part, request: GuardedRequest): Promise<GuardedAnswer> {
  if (part.bytes === 0 || part.validator === undefined) return guardedGet(url, request)
  try {
    return await guardedGet(url, { ...request, from: { start: part.bytes, ifRange: part.validator } })
  } catch (error) {
    if (isSourceError(error) && error.status === 416) throw changed(part)
    throw error
  }
}

/** A 206 must go on exactly where the file ends, and be of the same version; a 200 begins again. */
async function begin({ status, headers }: GuardedAnswer, file: FileHandle, part: Part, limits: BodyLimits): Promise<void> {
  const validator = validatorOf(headers)
  if (status === 206) {
    const range = contentRangeOf(headers)
    if (range?.start !== part.bytes || (validator !== undefined && validator !== part.validator)) throw changed(part)
    part.total = range.total ?? part.total
    if ((part.total ?? 0) > limits.maxBytes) throw tooLarge(limits.maxBytes)
    return
  }
  await file.truncate(0)
  Object.assign(part, emptyPart(), { total: announcedBytes(headers), validator })
}

function emptyPart(): Part {
  return { bytes: 0, total: undefined, hash: createHash('sha256'), validator: undefined }
}

/** What is there does not fit the source any more: the next try begins again. */
function changed(part: Part): SourceError {
  Object.assign(part, emptyPart())
  return new SourceError(4001, 'the source changed while it was being fetched', { transient: true })
}

async function writeAll(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done)
    done += bytesWritten
  }
}
