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
import { storingTimedOut } from './commit-deadline.ts'

/** A caption file, by its URL or its content. */
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
 * Reads the lines of a caption file. The download ends early enough to store the lines before the
 * caller's deadline. Throws `invalid` for the field of the source.
 */
export type ReadSource = (source: CaptionSource, call: Pick<Call, 'signal' | 'deadline'>) => Promise<CaptionLine[]>

/** Maximum duration of the download, for which the caller waits. */
const TIMEOUT_MS = 6_000
/** Time before the caller's deadline that is reserved for storing the lines and for the response. */
const STORE_RESERVE_MS = 4_000

export function createSourceReader(policy: SourcePolicy, reader: CaptionReader): ReadSource {
  const readLines = async (field: string, file: CaptionFile, organisationId: string, signal: AbortSignal) => {
    const lines = await reader.read(file, organisationId, signal)
    if (lines.length === 0) throw invalid([{ field, message: `contains no captions in the format .${file.format}` }])
    return lines
  }
  return async ({ url, content, format, organisationId }, call) => {
    if (url === '') {
      if (format === undefined) throw invalid([{ field: 'format', message: `must be one of: ${CAPTION_FORMATS.join(', ')}` }])
      return readLines('content', { content, format }, organisationId, call.signal)
    }
    const fileFormat = formatByExtension(url)
    const problems = checkUrl(url, policy)
    if (problems.length > 0) throw invalid([{ field: 'url', message: problems.join('; ') }])
    if (fileFormat === undefined)
      throw invalid([{ field: 'url', message: `must end in ${CAPTION_FORMATS.map((name) => `.${name}`).join(', ')}` }])
    return readLines('url', { content: await fetchFile(url, policy, call), format: fileFormat }, organisationId, call.signal)
  }
}

/** Returns the format by the extension of a URL. Redirects do not change it. */
function formatByExtension(url: string): CaptionFormat | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname.toLowerCase() : ''
  return CAPTION_FORMATS.find((format) => path.endsWith(`.${format}`))
}

async function fetchFile(url: string, policy: SourcePolicy, { signal, deadline }: Parameters<ReadSource>[1]): Promise<Uint8Array> {
  const remainingMs = deadline ? deadline.getTime() - Date.now() - STORE_RESERVE_MS : TIMEOUT_MS
  if (remainingMs <= 0) throw storingTimedOut()
  try {
    const { body } = await guardedGet(url, { policy, maxBytes: MAX_FILE_BYTES, timeoutMs: Math.min(TIMEOUT_MS, remainingMs), signal })
    return await buffer(body)
  } catch (error) {
    if (!isSourceError(error)) throw error
    if (error.code === 4003) throw captionTooLarge(`a file of captions has at most ${MAX_FILE_BYTES / 2 ** 20} MiB`)
    throw invalid([{ field: 'url', message: `cannot be fetched: ${error.message}` }])
  }
}
