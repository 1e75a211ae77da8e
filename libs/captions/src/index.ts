export {
  CAPTION_FORMATS,
  type CaptionFormat,
  type CaptionLine,
  captionTooLarge,
  MAX_FILE_BYTES,
} from './caption-line.ts'
export { type CaptionReader, createCaptionReader } from './caption-reader.ts'
export { decodeText } from './decode-text.ts'
export { type CaptionFile, readCaptions } from './read-captions.ts'
export { formatMinutes, plainText, writeTtml, writeVtt } from './write-captions.ts'
