import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ObjectStorage } from '@vitascope/storage'
import { matches } from '../serve-object.ts'
import type { CaptionTexts } from './caption-texts.ts'
import { type CaptionFile, type CaptionRule, captionPlaylist, withCaptions } from './hls-captions.ts'

export interface CaptionParts {
  storage: ObjectStorage
  texts: CaptionTexts
}

const PLAYLIST = 'application/vnd.apple.mpegurl'

/**
 * Sends the master with the captions of now, a playlist of one of them, or its text. Their addresses outlive changes of the captions, so
 * caches ask again each time; the answer is then mostly 304.
 */
export async function serveCaptions(
  request: IncomingMessage,
  response: ServerResponse,
  { storage, texts }: CaptionParts,
  what: { file: CaptionFile; rule: CaptionRule; prefix: string; open: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { file, rule, prefix, open } = what
  const body = await bodyOf()
  response.setHeader('Cache-Control', `${open ? 'public' : 'private'}, max-age=0, must-revalidate`)
  response.setHeader('Content-Type', file.kind === 'text' ? 'text/vtt; charset=utf-8' : PLAYLIST)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  response.setHeader('ETag', etag)
  if (matches(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end()
    return
  }
  response.writeHead(200, { 'Content-Length': body.length })
  if (request.method === 'HEAD') response.end()
  else response.end(body)

  async function bodyOf(): Promise<Buffer> {
    if (file.kind === 'text') return await texts.get(file.track)
    if (file.kind === 'playlist') return Buffer.from(captionPlaylist(file.captionId, rule.durationSeconds))
    // Playlists of whole videos have a few kilobytes.
    const object = await storage.open(`${prefix}/${rule.masterPath}`, { signal })
    return Buffer.from(withCaptions(await text(object.stream), rule.tracks))
  }
}
