import { type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText } from '@vitascope/request'

/** Captions in one language, without their lines. */
export interface Caption {
  captionId: string
  mediaId: string
  organisationId: string
  title: string
  language: string
  /** Number of times that the lines were replaced. */
  revision: number
  createdByUserId: string
  lastModifiedByUserId: string
  createTime: Date
  updateTime: Date
}

/** The fields that users can change, apart from the lines. */
export type CaptionFields = Pick<Caption, 'mediaId' | 'title' | 'language'>

/** The captions as they appear in a video. */
export type CaptionSummary = Pick<Caption, 'captionId' | 'title' | 'language'>

/** Maximum number of captions of a media, because a player's menu lists all of them. */
export const MAX_CAPTIONS = 100

const PATHS = new Map<string, keyof CaptionFields>([
  ['title', 'title'],
  ['language', 'language'],
  ['media_id', 'mediaId'],
])

export function checkCaption({ title, language }: Pick<CaptionFields, 'title' | 'language'>): FieldError[] {
  const problems = checkText('title', title, { max: 255, blank: false })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the title is written into one line of a playlist
  if (problems.length === 0 && /[\u0000-\u001f\u007f\u2028\u2029]/.test(title))
    problems.push({ field: 'title', message: 'must be one line' })
  if (!isLanguageCode(language)) problems.push({ field: 'language', message: 'must be a language code such as en or pt-BR' })
  return problems
}

/** Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field. */
export function mergeCaption(current: CaptionFields, input: CaptionFields, mask: readonly string[]): CaptionFields {
  const { fields, problems } = applyMask(current, input, mask, PATHS)
  requireValid([...problems, ...checkCaption(fields)])
  return fields
}

function isLanguageCode(code: string): boolean {
  if (code.length > 64) return false
  try {
    return Intl.getCanonicalLocales(code)[0] === code
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
