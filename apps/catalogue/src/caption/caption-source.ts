import { buffer } from 'node:stream/consumers'
import {
  type CaptionFormat,
  type CaptionLine,
  captionFormats,
  captionTooLarge,
  decodeText,
  greatestFile,
  readCaptions,
} from '@vitascope/captions'
import { invalid } from '@vitascope/errors'
import { checkUrl, guardedGet, isSourceError, type SourcePolicy } from '@vitascope/fetch'

/** A file of captions: somewhere else, or here. */
export interface CaptionSource {
  /** Empty for what `content` has. */
  url: string
  content: string
  /** Of `content`. */
  format: CaptionFormat | undefined
}

/** Reads a file's lines; refuses it under the field that named it. */
export type ReadSource = (source: CaptionSource, signal: AbortSignal) => Promise<CaptionLine[]>

/** The caller waits for it, and for the rest of a write too: less than the time of a write. */
const TIMEOUT_MS = 6_000

export function createSourceReader(policy: SourcePolicy): ReadSource {
  return async ({ url, content, format }, signal) => {
    if (url === '') {
      if (format === undefined) throw invalid([{ field: 'format', message: `must be one of: ${captionFormats.join(', ')}` }])
      return someLines('content', content, format)
    }
    const ending = endingOf(url)
    const problems = checkUrl(url, policy)
    if (problems.length > 0) throw invalid([{ field: 'url', message: problems.join('; ') }])
    if (ending === undefined)
      throw invalid([{ field: 'url', message: `must end in ${captionFormats.map((name) => `.${name}`).join(', ')}` }])
    return someLines('url', decodeText(await fetchFile(url, policy, signal)), ending)
  }
}

/** What the address itself says; the same for one that leads elsewhere in the end. */
function endingOf(url: string): CaptionFormat | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname.toLowerCase() : ''
  return captionFormats.find((format) => path.endsWith(`.${format}`))
}

async function fetchFile(url: string, policy: SourcePolicy, signal: AbortSignal): Promise<Uint8Array> {
  try {
    const { body } = await guardedGet(url, { policy, maxBytes: greatestFile, timeoutMs: TIMEOUT_MS, signal })
    return await buffer(body)
  } catch (error) {
    if (!isSourceError(error)) throw error
    if (error.code === 4003) throw captionTooLarge(`a file of captions has at most ${greatestFile / 2 ** 20} MiB`)
    throw invalid([{ field: 'url', message: `cannot be had: ${error.message}` }])
  }
}

function someLines(field: string, text: string, format: CaptionFormat): CaptionLine[] {
  const lines = readCaptions(text, format)
  if (lines.length === 0) throw invalid([{ field, message: `has no captions that can be read as .${format}` }])
  return lines
}
