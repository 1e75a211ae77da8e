import type { CaptionFormat } from '@vitascope/captions'
import { CaptionFileFormat, type CaptionSource as Message } from '@vitascope/proto/catalogue/v1/caption'
import type { CaptionSource } from './caption-source.ts'

const FORMATS = new Map<CaptionFileFormat, CaptionFormat>([
  [CaptionFileFormat.CAPTION_FILE_FORMAT_SRT, 'srt'],
  [CaptionFileFormat.CAPTION_FILE_FORMAT_SBV, 'sbv'],
  [CaptionFileFormat.CAPTION_FILE_FORMAT_SUB, 'sub'],
  [CaptionFileFormat.CAPTION_FILE_FORMAT_VTT, 'vtt'],
])

export function fromSourceMessage({ url, content, format }: Message, organisationId: string): CaptionSource {
  return { url, content, format: FORMATS.get(format), organisationId }
}
