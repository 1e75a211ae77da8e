import { DomainError } from '@vitascope/errors'

/** A text that shows from one moment to another; `beginMs < endMs`. */
export interface CaptionLine {
  /** Milliseconds from the beginning of the video; below 100 hours. */
  beginMs: number
  endMs: number
  /** Not blank; its lines are parted by `\n`. */
  text: string
}

/** The endings of the files that can be read. */
export const captionFormats = ['srt', 'sbv', 'sub', 'vtt'] as const

export type CaptionFormat = (typeof captionFormats)[number]

/** Bytes of a file. */
export const greatestFile = 5 * 2 ** 20
export const mostLines = 20_000
export const longestText = 10_000
export const latestMs = 100 * 3_600_000 - 1

/** The refusal of a file that is too large in some way. */
export function captionTooLarge(message: string, cause?: unknown): DomainError {
  return new DomainError('invalid', 'CAPTION_TOO_LARGE', message, { cause })
}

export function tooLongText(): DomainError {
  return captionTooLarge(`a line of captions has at most ${longestText} characters: this file has a longer one`)
}
