import { buffer } from 'node:stream/consumers'
import {
  CAPTION_FORMATS,
  type CaptionFile,
  type CaptionFormat,
  type CaptionLine,
  type CaptionReader,
  captionTooLarge,
  MAX_FILE_BYTES,
} from '@vitascope/captions'
import { invalid } from '@vitascope/errors'
import { checkUrl, guardedGet, isSourceError, type SourcePolicy } from '@vitascope/fetch'
import type { Call } from '@vitascope/grpc'
import { tooLate } from './commit-deadline.ts'

/** A caption file, given by URL or inline. */
export interface CaptionSource {
  /** Empty if `content` is used. */
  url: string
  content: string
  /** Format of `content`. */
  format: CaptionFormat | undefined
  /** The organisation in whose queue the file is parsed. */
  organisationId: string
}

/**
 * Reads the lines of a caption file, and leaves enough of the caller's deadline to store them.
 * Throws `invalid` for the field of the source.
 */
export type ReadSource = (source: CaptionSource, call: Pick<Call, 'signal' | 'deadline'>) => Promise<CaptionLine[]>

/** The caller waits for the download. */
const TIMEOUT_MS = 6_000
/** Part of the caller's deadline that is reserved for storing the lines and responding after the download. */
const STORE_MS = 4_000

export function createSourceReader(policy: SourcePolicy, reader: CaptionReader): ReadSource {
  const someLines = async (field: string, file: CaptionFile, organisationId: string, signal: AbortSignal) => {
    const lines = await reader.read(file, organisationId, signal)
    if (lines.length === 0) throw invalid([{ field, message: `contains no captions in the format .${file.format}` }])
    return lines
  }
  return async ({ url, content, format, organisationId }, call) => {
    if (url === '') {
      if (format === undefined) throw invalid([{ field: 'format', message: `must be one of: ${CAPTION_FORMATS.join(', ')}` }])
      return someLines('content', { content, format }, organisationId, call.signal)
    }
    const ending = formatByExtension(url)
    const problems = checkUrl(url, policy)
    if (problems.length > 0) throw invalid([{ field: 'url', message: problems.join('; ') }])
    if (ending === undefined)
      throw invalid([{ field: 'url', message: `must end in ${CAPTION_FORMATS.map((name) => `.${name}`).join(', ')}` }])
    return someLines('url', { content: await fetchFile(url, policy, call), format: ending }, organisationId, call.signal)
  }
}

/** Returns the format by the extension of the given URL. Redirects do not change it. */
function formatByExtension(url: string): CaptionFormat | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname.toLowerCase() : ''
  return CAPTION_FORMATS.find((format) => path.endsWith(`.${format}`))
}

async function fetchFile(url: string, policy: SourcePolicy, { signal, deadline }: Parameters<ReadSource>[1]): Promise<Uint8Array> {
  const left = deadline ? deadline.getTime() - Date.now() - STORE_MS : TIMEOUT_MS
  if (left <= 0) throw tooLate()
  try {
    const { body } = await guardedGet(url, { policy, maxBytes: MAX_FILE_BYTES, timeoutMs: Math.min(TIMEOUT_MS, left), signal })
    return await buffer(body)
  } catch (error) {
    if (!isSourceError(error)) throw error
    if (error.code === 4003) throw captionTooLarge(`a file of captions has at most ${MAX_FILE_BYTES / 2 ** 20} MiB`)
    throw invalid([{ field: 'url', message: `cannot be fetched: ${error.message}` }])
  }
}
