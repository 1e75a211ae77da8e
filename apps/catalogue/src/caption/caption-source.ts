import { buffer } from 'node:stream/consumers'
import {
  type CaptionFile,
  type CaptionFormat,
  type CaptionLine,
  type CaptionReader,
  captionFormats,
  captionTooLarge,
  greatestFile,
} from '@vitascope/captions'
import { invalid } from '@vitascope/errors'
import { checkUrl, guardedGet, isSourceError, type SourcePolicy } from '@vitascope/fetch'
import type { Call } from '@vitascope/grpc'
import { tooLate } from './answer-time.ts'

/** A file of captions: somewhere else, or here. */
export interface CaptionSource {
  /** Empty for what `content` has. */
  url: string
  content: string
  /** Of `content`. */
  format: CaptionFormat | undefined
  /** Whose turn it takes to read it. */
  organisationId: string
}

/** Reads a file's lines; refuses it under the field that named it, and leaves time to store them. */
export type ReadSource = (source: CaptionSource, call: Pick<Call, 'signal' | 'deadline'>) => Promise<CaptionLine[]>

/** The caller waits for it. */
const TIMEOUT_MS = 6_000
/** What is left of the caller's time when a file is there: it is stored and answered in less. */
const STORE_MS = 4_000

export function createSourceReader(policy: SourcePolicy, reader: CaptionReader): ReadSource {
  const someLines = async (field: string, file: CaptionFile, organisationId: string, signal: AbortSignal) => {
    const lines = await reader.read(file, organisationId, signal)
    if (lines.length === 0) throw invalid([{ field, message: `has no captions that can be read as .${file.format}` }])
    return lines
  }
  return async ({ url, content, format, organisationId }, call) => {
    if (url === '') {
      if (format === undefined) throw invalid([{ field: 'format', message: `must be one of: ${captionFormats.join(', ')}` }])
      return someLines('content', { content, format }, organisationId, call.signal)
    }
    const ending = endingOf(url)
    const problems = checkUrl(url, policy)
    if (problems.length > 0) throw invalid([{ field: 'url', message: problems.join('; ') }])
    if (ending === undefined)
      throw invalid([{ field: 'url', message: `must end in ${captionFormats.map((name) => `.${name}`).join(', ')}` }])
    return someLines('url', { content: await fetchFile(url, policy, call), format: ending }, organisationId, call.signal)
  }
}

/** What the address itself says; the same for one that leads elsewhere in the end. */
function endingOf(url: string): CaptionFormat | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname.toLowerCase() : ''
  return captionFormats.find((format) => path.endsWith(`.${format}`))
}

async function fetchFile(url: string, policy: SourcePolicy, { signal, deadline }: Parameters<ReadSource>[1]): Promise<Uint8Array> {
  const left = deadline ? deadline.getTime() - Date.now() - STORE_MS : TIMEOUT_MS
  if (left <= 0) throw tooLate()
  try {
    const { body } = await guardedGet(url, { policy, maxBytes: greatestFile, timeoutMs: Math.min(TIMEOUT_MS, left), signal })
    return await buffer(body)
  } catch (error) {
    if (!isSourceError(error)) throw error
    if (error.code === 4003) throw captionTooLarge(`a file of captions has at most ${greatestFile / 2 ** 20} MiB`)
    throw invalid([{ field: 'url', message: `cannot be had: ${error.message}` }])
  }
}
