import { DomainError } from '@vitascope/errors'

/** A text that is shown during an interval; `beginMs < endMs`. */
export interface CaptionLine {
  /** Milliseconds from the beginning of the video; less than 100 hours. */
  beginMs: number
  endMs: number
  /** Not blank. May consist of several lines, separated by `\n`. */
  text: string
}

/** The file extensions of the supported formats. */
export const CAPTION_FORMATS = ['srt', 'sbv', 'sub', 'vtt'] as const

export type CaptionFormat = (typeof CAPTION_FORMATS)[number]

export const MAX_FILE_BYTES = 5 * 2 ** 20
export const MAX_LINES = 20_000
export const MAX_TEXT_CHARACTERS = 10_000
export const MAX_TIME_MS = 100 * 3_600_000 - 1

/** Returns the error for a file that exceeds a limit. */
export function captionTooLarge(message: string, cause?: unknown): DomainError {
  return new DomainError('invalid', 'CAPTION_TOO_LARGE', message, { cause })
}

export function captionTextTooLong(): DomainError {
  return captionTooLarge(`a caption has at most ${MAX_TEXT_CHARACTERS} characters: this file has a longer one`)
}
