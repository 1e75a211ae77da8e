import { type CaptionFormat, captionFormats, greatestFile } from '@vitascope/captions'
import { CaptionFileFormat, CaptionSource } from '@vitascope/proto/catalogue/v1/caption'
import type { z } from 'zod'
import { oneOf, text } from '../fields.ts'
import type { Context } from '../route.ts'
import { checkSourceAddress, sourceAddress } from '../source-rule.ts'

/** Fields that bring the file. */
export const sourceFields = {
  url: sourceAddress('Where the file is: publicly reachable, and its path ends in .srt, .sbv, .sub or .vtt.').optional(),
  content: text(
    greatestFile,
    {},
    { description: 'The text of the file, in place of `url`: as much as a body holds, 1 MiB in all.' },
  ).optional(),
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

const endings = captionFormats.map((format) => `.${format}`)

/** Checks between the fields that bring the file: they are told together with what is wrong with any field in itself. */
export function withSource<Shape extends z.ZodObject>(shape: Shape, { required }: { required: boolean }): Shape {
  const refine = (value: unknown, { issues, addIssue }: z.core.$RefinementCtx<unknown>): void => {
    if (typeof value !== 'object' || value === null) return
    const bad = new Set(issues.map(({ path }) => path?.[0]))
    const tell = (field: keyof Sent, message: string) => {
      if (!bad.has(field)) addIssue({ code: 'custom', path: [field], message, input: value })
    }
    const sent = value as Sent
    const has = (field: keyof Sent) => bad.has(field) || sent[field] !== undefined
    if (has('url') && has('content')) tell('content', 'must not stand beside url')
    if (has('content') && !has('format')) tell('format', 'is required with content')
    if (!has('content') && has('format')) tell('format', 'goes with content only')
    if (required && !has('url') && !has('content')) tell('url', 'is required, or content with its format')
    if (!bad.has('url') && sent.url !== undefined && !endsWell(sent.url)) tell('url', `must end in ${endings.join(', ')}`)
  }
  // The same shape with a check more.
  return (shape as z.ZodType).superRefine(refine, { when: () => true }) as Shape
}

/** What is no address is told so elsewhere. */
function endsWell(url: string): boolean {
  if (!URL.canParse(url)) return true
  const path = new URL(url).pathname.toLowerCase()
  return endings.some((ending) => path.endsWith(ending))
}

/** Refuses a bad address. */
export function checkSource({ url }: Sent, context: Context): void {
  if (url !== undefined) checkSourceAddress('url', url, context)
}

/** The file that the fields bring; undefined when they bring none. */
export function sourceOf({ url, content, format }: Sent): CaptionSource | undefined {
  if (url === undefined && content === undefined) return undefined
  return CaptionSource.create({
    url: url ?? '',
    content: content ?? '',
    format: format ? FORMATS[format] : CaptionFileFormat.CAPTION_FILE_FORMAT_UNSPECIFIED,
  })
}
