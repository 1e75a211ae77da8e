import type { CaptionFormat } from '@vitascope/captions'
import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireUser, type Scope, scopeOf } from '@vitascope/principal'
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
      const key = { scope: scopeOf(call.principal), mediaId }
      // Do not fetch the file if the media does not exist or if the request is a repeat.
      const known = await captions.findCreated(key, call)
      if (known !== undefined) return { captionId: known }
      const lines = await readSource(fromSourceMessage(source, organisationId), call)
      return {
        captionId: await withCommitDeadline(call, (signalled) => captions.create(key, { title, language, userId, lines }, signalled)),
      }
    },
    async *readCaption({ captionId }, { principal, signal }) {
      const scope = principal.kind === 'service' ? null : scopeOf(principal)
      const found = await captions.read(keyOf(scope, captionId), signal)
      if (!found) throw notFound('caption', captionId)
      yield* splitIntoMessages(found.caption, found.lines)
    },
    async updateCaption({ caption: given, updateMask = [], source }, call) {
      const { userId, organisationId } = requireUser(call.principal)
      const key = keyOf(scopeOf(call.principal), given?.captionId ?? '')
      const now = await captions.find(key, call.signal)
      if (!given || !now) throw notFound('caption', key.captionId)
      const change = (fields: Caption | Parameters<typeof mergeCaption>[0]) => mergeCaption(fields, given, updateMask)
      // Validate the fields before the file is fetched.
      const { mediaId } = change(now)
      if (!isId(mediaId)) throw notFound('media', mediaId)
      const lines = source && (await readSource(fromSourceMessage(source, organisationId), call))
      return { caption: await withCommitDeadline(call, ({ signal }) => captions.update(key, { change, userId, lines }, signal)) }
    },
    async deleteCaption({ captionId }, { principal, signal }) {
      await captions.remove(keyOf(scopeOf(principal), captionId), signal)
      return {}
    },
  }
}

/** Characters of text per message: far below the 4 MiB message limit, whatever their size in bytes. */
const MAX_CHARACTERS_PER_MESSAGE = 250_000
const MAX_LINES_PER_MESSAGE = 5_000

function* splitIntoMessages(caption: Caption, lines: readonly StoredLine[]): Generator<ReadCaptionResponse> {
  let part: ReadCaptionResponse = { caption, lines: [] }
  let size = 0
  for (const line of lines) {
    if (size + line.text.length > MAX_CHARACTERS_PER_MESSAGE || part.lines.length === MAX_LINES_PER_MESSAGE) {
      yield part
      part = { caption: undefined, lines: [] }
      size = 0
    }
    part.lines.push(line)
    size += line.text.length
  }
  yield part
}

function keyOf(scope: Scope, captionId: string): CaptionKey {
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
