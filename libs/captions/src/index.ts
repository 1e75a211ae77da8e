/** A file, and what reads files in threads of its own. */
export type { CaptionFile } from './caption-file.ts'
/** One line of captions, and what a file of them may have. */
export { type CaptionFormat, type CaptionLine, captionFormats, captionTooLarge, greatestFile } from './caption-line.ts'
export { type CaptionReader, createCaptionReader } from './caption-reader.ts'
/** Milliseconds as `MM:SS` and `HH:MM:SS.mmm`. */
export { clockText, minuteText } from './clock.ts'
/** Bytes of whatever charset as text. */
export { decodeText } from './decode-text.ts'
/** A file's lines. */
export { readCaptions } from './read-captions.ts'
/** The lines' words, without any formatting. */
export { plainText } from './write-text.ts'
export { writeTtml } from './write-ttml.ts'
export { writeVtt } from './write-vtt.ts'
