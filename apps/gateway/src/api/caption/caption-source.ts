import { CAPTION_FORMATS, type CaptionFormat, MAX_FILE_BYTES } from '@vitascope/captions'
import { CaptionFileFormat, CaptionSource } from '@vitascope/proto/catalogue/v1/caption'
import type { z } from 'zod'
import type { Context } from '../../server/route/route.ts'
import { oneOf, text } from '../../server/schema/fields.ts'
import { checkSourceAddress, sourceAddress } from '../shared/validate-source-url.ts'

/** Fields for the source of the captions. */
export const sourceFields = {
  url: sourceAddress('Publicly reachable URL of the file. Its path ends in .srt, .sbv, .sub or .vtt.').optional(),
  content: text(MAX_FILE_BYTES, {}, { description: 'Text of the file, instead of `url`. The whole body may have 1 MiB.' }).optional(),
  format: oneOf(CAPTION_FORMATS, { description: 'Format of `content`.' }).optional(),
}

interface SourceFields {
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

const extensions = CAPTION_FORMATS.map((format) => `.${format}`)

/**
 * Adds the checks between the source fields. They are reported together with the errors of single
 * fields.
 */
export function withSource<Shape extends z.ZodObject>(shape: Shape, { required }: { required: boolean }): Shape {
  const refine = (value: unknown, { issues, addIssue }: z.core.$RefinementCtx<unknown>): void => {
    if (typeof value !== 'object' || value === null) return
    const invalidFields = new Set(issues.map(({ path }) => path?.[0]))
    const addProblem = (field: keyof SourceFields, message: string) => {
      if (!invalidFields.has(field)) addIssue({ code: 'custom', path: [field], message, input: value })
    }
    const caption = value as SourceFields
    const has = (field: keyof SourceFields) => invalidFields.has(field) || caption[field] !== undefined
    if (has('url') && has('content')) addProblem('content', 'must not be sent together with url')
    if (has('content') && !has('format')) addProblem('format', 'is required with content')
    if (!has('content') && has('format')) addProblem('format', 'must be sent with content only')
    if (required && !has('url') && !has('content')) addProblem('url', 'is required, or content with its format')
    if (!invalidFields.has('url') && caption.url !== undefined && !hasAllowedExtension(caption.url))
      addProblem('url', `must end in ${extensions.join(', ')}`)
  }
  // The schema is the same, with one more check.
  return (shape as z.ZodType).superRefine(refine, { when: () => true }) as Shape
}

/**
 * Returns true for an allowed file extension. A value that is not a URL is rejected by another
 * check.
 */
function hasAllowedExtension(url: string): boolean {
  if (!URL.canParse(url)) return true
  const path = new URL(url).pathname.toLowerCase()
  return extensions.some((extension) => path.endsWith(extension))
}

/** Throws if the source URL is not allowed. */
export function checkSource({ url }: SourceFields, context: Context): void {
  if (url !== undefined) checkSourceAddress('url', url, context)
}

/** Returns the source that the fields describe, or undefined if none is set. */
export function toCaptionSource({ url, content, format }: SourceFields): CaptionSource | undefined {
  if (url === undefined && content === undefined) return undefined
  return CaptionSource.create({
    url: url ?? '',
    content: content ?? '',
    format: format ? FORMATS[format] : CaptionFileFormat.CAPTION_FILE_FORMAT_UNSPECIFIED,
  })
}
