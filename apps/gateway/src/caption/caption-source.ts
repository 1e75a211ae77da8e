import { type CaptionFormat, captionFormats, greatestFile } from '@vitascope/captions'
import { type FieldError, invalid } from '@vitascope/errors'
import { CaptionFileFormat, CaptionSource } from '@vitascope/proto/catalogue/v1/caption'
import { oneOf, text } from '../fields.ts'
import type { Context } from '../route.ts'
import { checkSourceAddress, sourceAddress } from '../source-rule.ts'

/** Fields that bring the file. */
export const sourceFields = {
  url: sourceAddress('Where the file is: publicly reachable, and its path ends in .srt, .sbv, .sub or .vtt.').optional(),
  content: text(greatestFile, {}, { description: 'The text of the file, in place of `url`.' }).optional(),
  format: oneOf(captionFormats, { description: 'What `content` is written in.' }).optional(),
}

interface Sent {
  url?: string | undefined
  content?: string | undefined
  format?: CaptionFormat | undefined
}

const FORMATS: Record<CaptionFormat, CaptionFileFormat> = {
  srt: CaptionFileFormat.CAPTION_FILE_FORMAT_SRT,
  sbv: CaptionFileFormat.CAPTION_FILE_FORMAT_SBV,
  sub: CaptionFileFormat.CAPTION_FILE_FORMAT_SUB,
  vtt: CaptionFileFormat.CAPTION_FILE_FORMAT_VTT,
}

/** The file that the fields bring; undefined when they bring none. */
export function sourceOf({ url, content, format }: Sent, context: Context): CaptionSource | undefined {
  const problems: FieldError[] = []
  if (url !== undefined && content !== undefined) problems.push({ field: 'content', message: 'must not stand beside url' })
  if (content !== undefined && format === undefined) problems.push({ field: 'format', message: 'is required with content' })
  if (content === undefined && format !== undefined) problems.push({ field: 'format', message: 'goes with content only' })
  if (problems.length > 0) throw invalid(problems)
  if (url !== undefined) checkSourceAddress('url', url, context)
  if (url === undefined && content === undefined) return undefined
  return CaptionSource.create({
    url: url ?? '',
    content: content ?? '',
    format: format ? FORMATS[format] : CaptionFileFormat.CAPTION_FILE_FORMAT_UNSPECIFIED,
  })
}
