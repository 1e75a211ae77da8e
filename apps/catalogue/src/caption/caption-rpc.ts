import type { CaptionFormat } from '@vitascope/captions'
import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, getScopeOrAll, requireUser, type Scope } from '@vitascope/principal'
import {
  CaptionFileFormat,
  type CaptionServiceService,
  type ReadCaptionResponse,
  type CaptionSource as SourceMessage,
} from '@vitascope/proto/catalogue/v1/caption'
import { isId } from '@vitascope/request'
import { type Caption, checkCaption, mergeCaption } from './caption.ts'
import type { CaptionSource, ReadSource } from './caption-source.ts'
import type { CaptionKey, CaptionStore, StoredLine } from './caption-store.ts'
import { withCommitDeadline } from './commit-deadline.ts'

export function captionHandlers(captions: CaptionStore, readSource: ReadSource): Handlers<typeof CaptionServiceService> {
  return {
    async createCaption({ mediaId, title, language, source }, call) {
      const { userId, organisationId } = requireUser(call.principal)
      const problems = checkCaption({ title, language })
      if (!source) problems.push({ field: 'source', message: 'is required' })
      if (!source || problems.length > 0) throw invalid(problems)
      if (!isId(mediaId)) throw notFound('media', mediaId)
      const key = { scope: getScope(call.principal), mediaId }
      // The file is not fetched if the media does not exist or if the request was processed before.
      const earlierId = await captions.findCreated(key, call)
      if (earlierId !== undefined) return { captionId: earlierId }
      const lines = await readSource(fromSourceMessage(source, organisationId), call)
      return {
        captionId: await withCommitDeadline(call, (callWithDeadline) =>
          captions.create(key, { title, language, userId, lines }, callWithDeadline),
        ),
      }
    },
    async *readCaption({ captionId }, { principal, signal }) {
      const stored = await captions.read(toKey(getScopeOrAll(principal), captionId), signal)
      if (!stored) throw notFound('caption', captionId)
      yield* splitIntoMessages(stored.caption, stored.lines)
    },
    async updateCaption({ caption: input, updateMask = [], source }, call) {
      const { userId, organisationId } = requireUser(call.principal)
      const key = toKey(getScope(call.principal), input?.captionId ?? '')
      const caption = await captions.find(key, call.signal)
      if (!input || !caption) throw notFound('caption', key.captionId)
      const change = (fields: Caption | Parameters<typeof mergeCaption>[0]) => mergeCaption(fields, input, updateMask)
      // Validate the fields before the file is fetched.
      const { mediaId } = change(caption)
      if (!isId(mediaId)) throw notFound('media', mediaId)
      const lines = source && (await readSource(fromSourceMessage(source, organisationId), call))
      return { caption: await withCommitDeadline(call, ({ signal }) => captions.update(key, { change, userId, lines }, signal)) }
    },
    async deleteCaption({ captionId }, { principal, signal }) {
      await captions.remove(toKey(getScope(principal), captionId), signal)
      return {}
    },
  }
}

/** Maximum number of characters per message. Their size in bytes is below the message limit of 4 MiB. */
const MAX_CHARACTERS_PER_MESSAGE = 250_000
const MAX_LINES_PER_MESSAGE = 5_000

function* splitIntoMessages(caption: Caption, lines: readonly StoredLine[]): Generator<ReadCaptionResponse> {
  let message: ReadCaptionResponse = { caption, lines: [] }
  let size = 0
  for (const line of lines) {
    if (size + line.text.length > MAX_CHARACTERS_PER_MESSAGE || message.lines.length === MAX_LINES_PER_MESSAGE) {
      yield message
      message = { caption: undefined, lines: [] }
      size = 0
    }
    message.lines.push(line)
    size += line.text.length
  }
  yield message
}

function toKey(scope: Scope, captionId: string): CaptionKey {
  if (!isId(captionId)) throw notFound('caption', captionId)
  return { scope, captionId }
}

const FORMATS = new Map<CaptionFileFormat, CaptionFormat>([
  [CaptionFileFormat.CAPTION_FILE_FORMAT_SRT, 'srt'],
  [CaptionFileFormat.CAPTION_FILE_FORMAT_SBV, 'sbv'],
  [CaptionFileFormat.CAPTION_FILE_FORMAT_SUB, 'sub'],
  [CaptionFileFormat.CAPTION_FILE_FORMAT_VTT, 'vtt'],
])

function fromSourceMessage({ url, content, format }: SourceMessage, organisationId: string): CaptionSource {
  return { url, content, format: FORMATS.get(format), organisationId }
}
